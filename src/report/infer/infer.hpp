// What serving takes, as text and as JSON.
#pragma once

#include <span>
#include <string>

#include "study/infer/best.hpp"
#include "study/infer/change.hpp"

namespace headway {

/// For a terminal of 80 columns.
/// `changes`: what would make it fit, where it does not. `notes`: what is to be said of it.
std::string infer_text(const Serving& serving, const Load& load, const Served& served,
                       std::span<const ServingChange> changes, std::span<const std::string> notes);
/// {ttft_s, tpot_s, latency_s, throughput_output_tok_s, throughput_total_tok_s,
/// tokens_per_s_per_gpu, quantiles, memory_bytes, kv_tokens, parts_s, price_per_million_tokens,
/// ...}.
std::string infer_json(const Serving& serving, const Load& load, const Served& served,
                       std::span<const ServingChange> changes, std::span<const std::string> notes);

/// The front of the best ways: a line each, the fastest for a user first.
std::string infer_best_text(const Serving& base, const Load& asked, std::int64_t accelerators,
                            const BestOffers& best);
/// {model, cluster, ..., tried, front: [{layout, concurrency, ttft_s, ...}]}.
std::string infer_best_json(const Serving& base, const Load& asked, std::int64_t accelerators,
                            const BestOffers& best);

}  // namespace headway

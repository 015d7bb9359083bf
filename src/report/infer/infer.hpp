// What serving takes, as text and as JSON.
#pragma once

#include <span>
#include <string>

#include "study/design/op_table.hpp"
#include "study/infer/apart.hpp"
#include "study/infer/intervals/intervals.hpp"
#include "study/infer/search/best.hpp"
#include "study/infer/search/best_apart.hpp"
#include "study/infer/search/change.hpp"

namespace headway {

/// What both passes are made of.
struct PassOps {
  OpTable prefill, decode;
};

/// What is said beside the times.
struct ServedBeside {
  const PassOps* ops = nullptr;              // where asked for
  std::span<const ServingChange> changes{};  // what would make it fit, where it does not
  std::span<const std::string> notes{};
  ServedIntervals intervals{};
};

/// For a terminal of 80 columns.
std::string infer_text(const Serving& serving, const Load& load, const Served& served,
                       const ServedBeside& beside = {});
/// {ttft_s, tpot_s, latency_s, throughput_output_tok_s, throughput_total_tok_s,
/// tokens_per_s_per_gpu, quantiles, memory_bytes, kv_tokens, parts_s, price_per_million_tokens,
/// ..., ops: {prefill, decode}}.
std::string infer_json(const Serving& serving, const Load& load, const Served& served,
                       const ServedBeside& beside = {});

/// The same of prefill and decode on accelerators of their own.
std::string infer_apart_text(const ServingApart& apart, const Load& load, const ServedApart& served,
                             const ServedBeside& beside = {});
std::string infer_apart_json(const ServingApart& apart, const Load& load, const ServedApart& served,
                             const ServedBeside& beside = {});

/// The front of the best of these.
std::string infer_best_apart_text(const Serving& base, const Load& asked, const SearchSpace& space,
                                  std::int64_t accelerators, const BestApart& best,
                                  const ServedBeside& beside = {});
std::string infer_best_apart_json(const Serving& base, const Load& asked, const SearchSpace& space,
                                  std::int64_t accelerators, const BestApart& best,
                                  const ServedBeside& beside = {});

/// The front of the best ways: a line each, the fastest for a user first.
std::string infer_best_text(const Serving& base, const Load& asked, const SearchSpace& space,
                            std::int64_t accelerators, const BestOffers& best,
                            const ServedBeside& beside = {});
/// {model, cluster, ..., tried, placed, formats, front: [{layout, weights, cache, step_tokens,
/// concurrency, ttft_s, ...}]}.
std::string infer_best_json(const Serving& base, const Load& asked, const SearchSpace& space,
                            std::int64_t accelerators, const BestOffers& best,
                            const ServedBeside& beside = {});

}  // namespace headway

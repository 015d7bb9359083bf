// What the answers of `infer` share: words, and members of documents. Internal to report/infer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/infer/would_fit.hpp"
#include "report/json/writer.hpp"
#include "study/bounds/bounds.hpp"
#include "study/infer/intervals/intervals.hpp"
#include "study/infer/search/ways.hpp"

namespace headway {

using TextTable = std::vector<std::vector<std::string>>;

/// US dollars for a million output tokens; 0: the cluster has no price.
double price_per_million(const Cluster& cluster, std::int64_t ranks, const Served& served);

/// The same of what prompts take, by their tokens, and of what makes the output, by its.
struct TokenPrices {
  double input = 0, output = 0;
};
TokenPrices prices_of(const Load& load, const Served& served, double per_million);

/// "16 clients".
std::string words_of(const Load& load);
/// "tp 8, bf16 weights, bf16 cache"; of the split alone "tp 8".
std::string words_of(const Serving& serving);
std::string words_of_split(const ServingSplit& split);
/// The lines of both pools: "llama-3-70b on 8 ...", "prefill: 2 copies of tp 2; decode: ...".
std::string words_of(const ServingApart& apart);
/// Times, rates and what one costs; the parts of a pass of each; memory of a rank.
TextTable served_rows(const Served& served, const Load& load, std::int64_t ranks,
                      const Cluster& cluster);
TextTable pass_rows(const Served& served);
TextTable memory_rows(const ServingMemory& memory);
std::string not_stable_text(const Served& served);
/// What of a rank is too large of what does not fit.
std::string_view too_large(const ServingMemory& memory);
/// Of prefill and decode apart, of which: "of prefill the weights alone are too large".
std::string why_not_text(const ServedApart& served);

/// "tp4 ep4": degrees above one, and tp.
std::string split_text(const ServingSplit& split);

/// "2 x tp4 ep4"; of both parts "2 x tp2, 1 x tp4".
std::string pool_text(const ServingSplit& split, std::int64_t copies);
std::string pools_text(const ServingApart& apart);

/// What was searched.
struct Searched {
  const Serving& base;
  const Load& asked;
  const SearchSpace& space;
  std::int64_t accelerators = 0;
  std::size_t tried = 0, placed = 0;  // ways in closed form, and in time
};
/// The lines above the front.
std::string best_title(const Searched& searched);
/// What stands in its place where it is empty. `would_fit`: accelerators, where known.
std::string no_front_text(const Searched& searched, std::optional<std::int64_t> would_fit);

/// What is served on how many, and the lengths.
void write_asked(JsonWriter& out, const Serving& serving, const Load& load, std::int64_t gpus);
/// The document of a search, up to the members of its front.
void begin_front(JsonWriter& out, const Searched& searched);
/// In what weights and cache are.
void write_formats(JsonWriter& out, const Serving& serving);
void write_layout(JsonWriter& out, std::string_view name, const ServingSplit& split);
/// Clients or sequences of each copy, requests of a file, or requests a second to all of so many
/// copies.
void write_amount(JsonWriter& out, std::int64_t copies, const Load& load);
/// What requests get: times, tokens a second, energy, money.
void write_gained(JsonWriter& out, const Cluster& cluster, std::int64_t ranks, const Load& load,
                  const Served& served);
/// The parts of a pass of each.
void write_passes(JsonWriter& out, const Served& served);
/// "memory 64 %": what binds most of it.
std::string bound_text(const BoundShares& bounds);
void write_bounds(JsonWriter& out, const BoundShares& bounds);

/// In which four of five measured ones lie; nothing where this build has no intervals.
void write_intervals(JsonWriter& out, const ServedIntervals& intervals);
std::string intervals_text(const ServedIntervals& intervals);
/// Those of many, a line each.
struct PointIntervals {
  std::string name;
  std::int64_t ranks = 1;
  const ServedIntervals& intervals;
};
std::string intervals_text(const std::vector<PointIntervals>& points);
void write_memory(JsonWriter& out, const ServingMemory& memory);
/// `prefill` and `decode`: their split, memory and what they could answer.
void write_pools(JsonWriter& out, const ServingApart& apart, const ServedApart& served);
/// What stands on no measurement.
void write_notes(JsonWriter& out, std::span<const std::string> notes);
std::string notes_text(std::span<const std::string> notes);

}  // namespace headway

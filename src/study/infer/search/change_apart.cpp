// What makes prefill and decode apart fit.
#include "study/infer/search/change.hpp"
#include "study/infer/search/smallest.hpp"

namespace headway {
namespace {

using FlagOfApart = ChangedFlag<ServingApart>;

// A pool: its split, how many copies there are of it, and what a rank of it must hold.
struct Pool {
  const char* name;
  Serving ServingApart::*serving;
  std::int64_t ServingApart::*copies;
  bool (*holds)(const ServingMemory& memory, const Load& load);
};
constexpr Pool kPrefill = {"prefill", &ServingApart::prefill, &ServingApart::prefill_copies,
                           holds_prompt};
constexpr Pool kDecode = {"decode", &ServingApart::decode, &ServingApart::decode_copies,
                          holds_sequence};

// Without changes yet.
FlagOfApart flag_of(const Pool& pool) {
  return {pool.name,
          [pool](const ServingApart& asked) {
            return pool_as_given(asked.*pool.serving, asked.*pool.copies);
          },
          {}};
}

FlagOfApart degree_flag(const Pool& pool, std::int64_t ServingSplit::*degree,
                        const ServingApart& apart) {
  FlagOfApart out = flag_of(pool);
  for (const std::int64_t d : higher_degrees(apart.*pool.serving, degree)) {
    out.changes.emplace_back([=](ServingApart& asked) { (asked.*pool.serving).*degree = d; });
  }
  return out;
}

// Where no degree alone would do: both, on as few ranks as hold what the pool must.
FlagOfApart split_flag(const Pool& pool, const ServingApart& apart, const Load& load) {
  FlagOfApart out = flag_of(pool);
  const Serving& now = apart.*pool.serving;
  std::optional<ServingSplit> least;
  for (const std::int64_t tp : higher_degrees(now, &ServingSplit::tp)) {
    for (const std::int64_t pp : higher_degrees(now, &ServingSplit::pp)) {
      Serving more = now;
      more.tp = tp;
      more.pp = pp;
      if (least && more.ranks() >= least->ranks()) continue;
      if (!check(more).empty()) continue;
      if (pool.holds(memory_of(more, load), load)) least = more;
    }
  }
  if (!least) return out;
  out.changes.emplace_back(
      [=](ServingApart& asked) { static_cast<ServingSplit&>(asked.*pool.serving) = *least; });
  return out;
}

FlagOfApart cache_flag(const ServingApart& apart) {
  FlagOfApart out{"cache", [](const ServingApart& asked) { return asked.decode.cache->name; }, {}};
  for (const CacheFormat* format : smaller_caches(apart.decode)) {
    out.changes.emplace_back(
        [format](ServingApart& asked) { asked.prefill.cache = asked.decode.cache = format; });
  }
  return out;
}

FlagOfApart weights_flag(const ServingApart& apart) {
  FlagOfApart out{"weights",
                  [](const ServingApart& asked) { return std::string(weights_name(asked.decode)); },
                  {}};
  for (const std::string& name : smaller_weights(apart.decode)) {
    out.changes.emplace_back([name](ServingApart& asked) {
      set_weights(asked.prefill, name);
      set_weights(asked.decode, name);
    });
  }
  return out;
}

}  // namespace

std::vector<ServingChange> smallest_changes(const ServingApart& apart,
                                            const ServingConstants& constants, const Load& load) {
  const std::vector<FlagOfApart> flags = {degree_flag(kPrefill, &ServingSplit::tp, apart),
                                          degree_flag(kPrefill, &ServingSplit::pp, apart),
                                          degree_flag(kDecode, &ServingSplit::tp, apart),
                                          degree_flag(kDecode, &ServingSplit::pp, apart),
                                          cache_flag(apart),
                                          weights_flag(apart),
                                          split_flag(kPrefill, apart, load),
                                          split_flag(kDecode, apart, load)};
  Load least = load;
  least.rate = std::min(load.rate, 1e-3);  // whether it fits does not hang on the rate
  const auto tried = [&](const ServingApart& asked) -> std::optional<ServingChange> {
    if (!check(asked).empty()) return std::nullopt;
    const Served answer = served(asked, constants, least).all;
    if (!answer.fits) return std::nullopt;
    const std::int64_t ranks = asked.ranks();
    return ServingChange{{}, answer.output_per_second / static_cast<double>(ranks), ranks};
  };
  return smallest_of(apart, flags, tried);
}

}  // namespace headway

// What makes prefill and decode apart fit.
#include "study/infer/search/change.hpp"
#include "study/infer/search/smallest.hpp"

namespace headway {
namespace {

using FlagOfApart = ChangedFlag<ServingApart>;

// A pool: its split and how many copies there are of it.
struct Pool {
  const char* name;
  Serving ServingApart::*serving;
  std::int64_t ServingApart::*copies;
};
constexpr Pool kPrefill = {"prefill", &ServingApart::prefill, &ServingApart::prefill_copies};
constexpr Pool kDecode = {"decode", &ServingApart::decode, &ServingApart::decode_copies};

FlagOfApart degree_flag(const Pool& pool, std::int64_t ServingSplit::*degree,
                        const ServingApart& apart) {
  FlagOfApart out{pool.name,
                  [pool](const ServingApart& asked) {
                    return pool_as_given(asked.*pool.serving, asked.*pool.copies);
                  },
                  {}};
  for (const std::int64_t d : higher_degrees(apart.*pool.serving, degree)) {
    out.changes.emplace_back([=](ServingApart& asked) { (asked.*pool.serving).*degree = d; });
  }
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
                                          weights_flag(apart)};
  Load least = load;
  least.rate = std::min(load.rate, 1e-3);  // whether it fits does not hang on the rate
  const auto tried = [&](const ServingApart& asked) -> std::optional<double> {
    if (!check(asked).empty()) return std::nullopt;
    const Served answer = served(asked, constants, least).all;
    if (!answer.fits) return std::nullopt;
    return answer.output_per_second / static_cast<double>(asked.ranks());
  };
  return smallest_of(apart, flags, tried);
}

}  // namespace headway

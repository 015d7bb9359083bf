#include "study/infer/search/binding.hpp"

#include "study/infer/summary.hpp"

namespace headway {
namespace {

// Of a pass of prompts and of one that decodes, in the shares that they have of the time.
BoundShares mixed(const Serving& serving, const ServingConstants& constants, const Load& load,
                  const Served& served, double prompts) {
  const std::vector<BoundTimes> passes = bound_times(serving.cluster, [&](const Cluster& cluster) {
    Serving there = serving;
    there.cluster = cluster;
    Served decoding;
    decode_pass(decoding, there, constants, load, served.sequences);
    return std::vector{time_of(there, constants, served.prefill_work).total(),
                       decoding.decode.total() + decoding.draft};
  });
  BoundShares out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto bound = static_cast<Bound>(i);
    out[i] = prompts * (passes[0][bound] / passes[0].total()) +
             (1 - prompts) * (passes[1][bound] / passes[1].total());
  }
  return out;
}

}  // namespace

BoundShares bound_shares(const Serving& serving, const ServingConstants& constants,
                         const Load& load, const Served& served) {
  return mixed(serving, constants, load, served, served.prompt_share);
}

BoundShares bound_shares(const ServingApart& apart, const ServingConstants& constants,
                         const Load& load, const ServedApart& served) {
  const bool prefill = served.binding() == "prefill";
  if (!prefill && served.binding() != "decode") {
    BoundShares out{};
    out[static_cast<std::size_t>(Bound::network)] = 1;
    return out;
  }
  Served of_copy = served.all;
  const Serving& part = prefill ? apart.prefill : apart.decode;
  of_copy.sequences /= static_cast<double>(part.dp);
  return mixed(part, constants, load, of_copy, prefill ? 1 : 0);
}

}  // namespace headway

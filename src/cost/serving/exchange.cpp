#include "cost/serving/exchange.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

double real(std::int64_t value) {
  return static_cast<double>(value);
}

Bytes bytes_of_copy(const ExpertExchange& exchange) {
  constexpr double kScaled = 128, kScale = 4;  // values to a scale, and its bytes
  return Bytes(real(exchange.hidden) * (exchange.combine ? 2 : 1 + kScale / kScaled));
}

// Of `places` that hold as many experts each, those that some of a token's experts lie in.
double reached(double places, std::int64_t active) {
  return places * (1 - std::pow(1 - 1 / places, real(active)));
}

}  // namespace

Bytes sent_to_peers(const ExpertExchange& e) {
  const double node = real(std::min(e.ranks, e.ranks_of_node));
  const double copies = e.quick ? real(e.active) * (node - 1) / real(e.ranks)
                                : reached(real(e.ranks), e.active) * (node - 1) / real(e.ranks);
  return real(e.tokens) * copies * bytes_of_copy(e);
}

Bytes sent_to_nodes(const ExpertExchange& e) {
  const double node = real(std::min(e.ranks, e.ranks_of_node));
  const double nodes = real(e.ranks) / node;
  const double copies = (e.quick ? real(e.active) : reached(nodes, e.active)) * (1 - 1 / nodes);
  return real(e.tokens) * copies * bytes_of_copy(e);
}

// normal  t = start + max(reached(ranks) · copy / (units · unit), peers / (bandwidth · share),
//                         nodes / (network · far)),  reached(n) = n (1 - (1 - 1/n)^active)
// quick   t = start + max(peers / (bandwidth · share), nodes / (network · far))
// Source: data/serving/kernels.toml; DeepEP of SGLang 0.5 on 8 ranks of one node, its own numbers
// of H800 over several. Valid for experts that are used alike; of ranks that one node holds.
Seconds expert_exchange_time(const ExpertExchange& e, const ServingKernels& kernels) {
  if (e.ranks <= 1) return Seconds(0);
  const ServingKernels::Exchange& of = e.combine ? kernels.combine : kernels.dispatch;
  const double share = e.quick ? of.quick_share : of.share;
  Seconds longest = sent_to_peers(e) / (e.bandwidth * share);
  if (e.ranks > e.ranks_of_node) {
    longest = std::max(longest, sent_to_nodes(e) / (e.network * kernels.exchange_far));
  }
  if (!e.quick) {
    const Bytes copied = real(e.tokens) * reached(real(e.ranks), e.active) * bytes_of_copy(e);
    longest = std::max(longest, copied / (of.unit * real(e.units)));
  }
  return e.slowed * (e.quick ? of.quick_start : of.start) + longest;
}

}  // namespace headway

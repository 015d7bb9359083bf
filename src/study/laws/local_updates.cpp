#include "study/laws/local_updates.hpp"

#include <algorithm>
#include <cmath>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

PowerLaw read_power(Fields fields) {
  return {fields.number("scale"), fields.number("exponent")};
}

JointLaw read_joint(Fields fields) {
  return {fields.number("scale"), fields.number("exponent"), fields.number("replica_exponent")};
}

}  // namespace

Result<LocalUpdateLaws> embedded_local_update_laws() {
  static const auto document = embedded_document("laws/local_updates.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields fields(*document, problems);
  LocalUpdateLaws out;
  out.source = fields.text("source");
  out.least_parameters = fields.number("least_parameters");
  out.most_parameters = fields.number("most_parameters");
  out.tokens_a_parameter = fields.number("tokens_a_parameter");
  out.sync_every = fields.number("sync_every");
  Fields joint = fields.table("joint", /*required=*/true);
  out.loss = read_joint(joint.table("loss", /*required=*/true));
  out.rate = read_joint(joint.table("rate", /*required=*/true));
  out.batch = read_joint(joint.table("batch", /*required=*/true));
  for (Fields& entry : fields.tables("replicas")) {
    ReplicaLaws laws;
    laws.replicas = entry.natural("count");
    laws.loss = read_power(entry.table("loss", /*required=*/true));
    laws.rate = read_power(entry.table("rate", /*required=*/true));
    laws.batch = read_power(entry.table("batch", /*required=*/true));
    if (entry.has("outer_rate")) laws.outer_rate = entry.number("outer_rate");
    out.replicas.push_back(laws);
  }
  Fields exchange = fields.table("exchange", /*required=*/true);
  out.bits_a_parameter = exchange.number("bits_a_parameter");
  out.hidden_share = exchange.number("hidden_share");
  if (!problems.empty()) return problems;
  return out;
}

// [LAW-1] Charles et al. 2025 (arXiv 2503.09799v1): loss, best inner rate and best batch, each
// fitted for one number of replicas to seven sizes, 35 M to 2.4 B parameters, 20 tokens each, H =
// 30. Known error, |log| at 2.4 B left out: 0.012 of the loss, 0.30 of the rate, 0.19 of the batch.
double PowerLaw::at(double parameters) const {
  return scale * std::pow(parameters, exponent);
}

// [LAW-2] The same with the replicas in it: 0.012, 0.19, 0.19.
double JointLaw::at(double parameters, double replicas) const {
  return scale * std::pow(parameters, exponent) * std::pow(replicas, replica_exponent);
}

const ReplicaLaws* LocalUpdateLaws::of(std::int64_t count) const {
  const auto at = std::find_if(replicas.begin(), replicas.end(),
                               [&](const ReplicaLaws& laws) { return laws.replicas == count; });
  return at == replicas.end() ? nullptr : &*at;
}

// [LAW-3] L_M / L_DP. Outside the sizes that were trained an extrapolation.
double LocalUpdateLaws::penalty(double parameters, std::int64_t count) const {
  const double synchronous = of(0)->loss.at(parameters);
  const ReplicaLaws* own = of(count);
  const double local =
      own != nullptr ? own->loss.at(parameters) : loss.at(parameters, static_cast<double>(count));
  return local / synchronous;
}

// [LAW-4] arXiv 2503.09799v1, appendix A, with the replicas of each of M groups of nodes/M summing
// their gradients inside every step, and all of them the outer gradients every H steps:
//   data parallelism  C/(R Q) + T·(2N/W1·(1 - 1/R) + e1)
//   M = 1             C/(R Q) + T·(1 + 1/H)·(2N/W1·(1 - 1/R) + e1)
//   M >= 2            C/(R Q) + T·(2N/W0·(1 - M/R) + e0) + T/H·(2N/W1·(1 - 1/R) + e1)
Seconds all_reduce_time(Bytes size, double nodes, const SimpleNetwork& network) {
  return 2 * size / network.bandwidth * (1 - 1 / nodes) + network.latency;
}

Seconds wall_clock(const WallClock& clock) {
  const Seconds computing = clock.training / clock.rate / clock.nodes;
  const Seconds all = all_reduce_time(clock.gradient, clock.nodes, clock.across);
  if (clock.replicas == 0) return computing + clock.steps * all;
  if (clock.replicas == 1) return computing + clock.steps * (1 + 1 / clock.sync_every) * all;
  const Seconds own = all_reduce_time(
      clock.gradient, clock.nodes / static_cast<double>(clock.replicas), clock.inside);
  return computing + clock.steps * own + clock.steps / clock.sync_every * all;
}

// [LAW-5] H steps of h seconds, then an exchange of P bits over W bits a second, of which f·h are
// hidden but for what the last layer of the backward pass leaves:
//   utilisation = H h / (H h + max(P/W·last, P/W - f h)).
// With f and the bits of a parameter of data/laws/local_updates.toml it gives 48 of the 60
// bandwidths of arXiv 2503.09799v1 table 6, and the others one point of their grid off.
double compute_utilisation(const SparseExchange& exchange, double bandwidth) {
  const double computing = exchange.sync_every * exchange.step.value();
  const double sending = exchange.bits / bandwidth;
  const double exposed =
      std::max(sending * exchange.last_part, sending - exchange.hidden * exchange.step.value());
  return computing / (computing + exposed);
}

std::optional<double> grid_bandwidth(const SparseExchange& exchange, double utilisation) {
  constexpr int kPoints = 50;
  for (int i = 0; i < kPoints; ++i) {
    const double bandwidth = 1e9 * std::pow(10.0, -1 + 4.0 * i / (kPoints - 1));
    if (compute_utilisation(exchange, bandwidth) >= utilisation) return bandwidth;
  }
  return std::nullopt;
}

}  // namespace headway

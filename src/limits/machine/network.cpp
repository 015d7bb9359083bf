#include "limits/machine/network.hpp"

#include <algorithm>
#include <cmath>

namespace headway::limits {
namespace {

// The forward pass runs twice, the backward pass once: three passes instead of two.
constexpr double kRecomputedCommunication = 1.5;
// Only the forward pass.
constexpr double kForwardCommunication = 0.5;

}  // namespace

// [LIMIT-8] Each level offers gpus x bandwidth; every kind of traffic is spread evenly over it.
Network::Network(const Setting& setting, const Shape& shape, std::int64_t gpus)
    : levels_(static_cast<int>(setting.machine.levels.size())),
      gpus_(static_cast<double>(gpus)),
      layers_(static_cast<double>(shape.layers)),
      d_model_(static_cast<double>(shape.d_model)),
      d_ff_(static_cast<double>(shape.d_ff)),
      batch_(static_cast<double>(shape.batch_tokens)),
      word_(bytes_per_element(setting.precision)),
      repeated_(setting.recompute_activations ? kRecomputedCommunication : 1) {
  const Relaxation& relaxation = setting.relaxation;
  parameter_bytes_ = shape.parameters * word_;
  if (relaxation.forward_only) {
    // A fitness of each sequence at most; seeds of the perturbations are known to all.
    parameter_bytes_ = static_cast<double>(shape.batch_sequences) * word_;
    repeated_ = kForwardCommunication;
  }
  // [LIMIT-27] Where replicas are loosely coupled they meet once in H steps and send 1/c of the
  // bytes.
  for (int level = 0; level < levels_; ++level) {
    const Level& from = setting.machine.levels[level];
    const bool loose = static_cast<std::size_t>(level) >= relaxation.loose_level;
    Link& link = links_[level];
    link = {1 / (gpus_ * from.bandwidth.value()), from.latency.value()};
    link.syncs = 1 / setting.steps_between_syncs / (loose ? relaxation.sync_every : 1);
    link.data_share = link.syncs / (loose ? relaxation.compression : 1);
  }
}

// [LIMIT-12] Exact as a lower bound: at each level c_l bytes take c_l/B_l, and max c_l/B_l >=
// sum c_l / sum B_l, where the sum of c_l over the levels is the traffic of one level, as
// (p_l - 1) prod_{j>l} p_j telescopes to p - 1. Each degree above 1 waits at one level at least.
Network Network::collapsed(int last) const {
  Network out = *this;
  double bandwidth = 0, latency = links_[last].latency;
  double syncs = links_[last].syncs, data_share = links_[last].data_share;
  for (int level = 0; level <= last; ++level) {
    bandwidth += 1 / links_[level].seconds_per_byte;
    latency = std::min(latency, links_[level].latency);
    syncs = std::min(syncs, links_[level].syncs);
    data_share = std::min(data_share, links_[level].data_share);
    out.links_[level] = {};
  }
  out.links_[last] = {1 / bandwidth, latency, syncs, data_share};
  return out;
}

// [LIMIT-8] An all-reduce (reduce-scatter and all-gather) of p sends 2 (p - 1) words in all for
// each word reduced, and waits twice for the latency of the level, however large p is. [LIMIT-9]
// Data: one all-reduce of all parameters; at level l for each of the prod_{j>l} groups. Levels work
// at the same time, their latencies add.
Seconds Network::data_bandwidth(const Split& data) const {
  double outside = 1, slowest = 0;
  for (int level = levels_ - 1; level >= 0; --level) {
    const double part = static_cast<double>(data.at[level]);
    const Link& link = links_[level];
    slowest = std::max(slowest, 2 * (part - 1) * outside * link.seconds_per_byte * link.data_share);
    outside *= part;
  }
  return Seconds(slowest * parameter_bytes_);
}

Seconds Network::data_latency(const Split& data) const {
  double sum = 0;
  for (int level = 0; level < levels_; ++level) {
    if (data.at[level] > 1) sum += 2 * links_[level].latency * links_[level].syncs;
  }
  return Seconds(sum);
}

// [LIMIT-10] Tensor, in two dimensions: in each of the L layers, forward and backward, d_ff words
// of each token are reduced over the shards of d_model, and d_model words over those of d_ff. A
// level carries both; levels work at the same time; latency is counted once for each traversal of
// the batch, not for each micro-batch.
std::array<Seconds, 2> Network::tensor(const Split& tensor_model, const Split& tensor_ff) const {
  double outside_model = 1, outside_ff = 1, slowest = 0, latency = 0;
  for (int level = levels_ - 1; level >= 0; --level) {
    const double model = static_cast<double>(tensor_model.at[level]);
    const double ff = static_cast<double>(tensor_ff.at[level]);
    const double words = (model - 1) * outside_model * d_ff_ + (ff - 1) * outside_ff * d_model_;
    slowest = std::max(slowest, words * links_[level].seconds_per_byte);
    latency += ((model > 1 ? 1 : 0) + (ff > 1 ? 1 : 0)) * links_[level].latency;
    outside_model *= model;
    outside_ff *= ff;
  }
  const double passes = 2 * layers_ * repeated_;
  return {Seconds(2 * slowest * passes * batch_ * word_), Seconds(2 * latency * passes)};
}

// [LIMIT-11] Stages and experts: d_model words of each token cross the L - 1 borders between
// layers, forward and backward. A border is crossed inside a GPU, or at pipeline level p (outwards
// from the first) with the share f_p of the borders; the expert of the next layer is, of all
// tokens, at expert level e for the share g_e (random routing). The level of both is the outer one.
//   f_p (L-1): inside L - v PP; the outermost level in use v PP_p - 1; others v (PP_p - 1)
//              prod_{j>p} PP_j
//   g_e: inside 1/EP; others 1/prod_{j>e} EP_j - 1/prod_{j>=e} EP_j
// Latency: some token always takes the outermost expert level, and all wait for it. Bandwidth and
// latency add over all pairs (p, e).
std::array<Seconds, 2> Network::pipeline(const Split& pipeline, const Split& expert,
                                         std::int64_t interleave) const {
  const double chunks = static_cast<double>(interleave);
  std::array<double, kMostLevels + 1> crossings{}, routed{};  // [0]: inside a GPU
  double stages_outside = 1, experts_outside = 1;
  int last_pipeline = -1, last_expert = -1;
  for (int level = levels_ - 1; level >= 0; --level) {
    const double stages = static_cast<double>(pipeline.at[level]);
    const double experts = static_cast<double>(expert.at[level]);
    if (stages > 1) {
      crossings[level + 1] =
          last_pipeline < 0 ? chunks * stages - 1 : chunks * stages_outside * (stages - 1);
      last_pipeline = std::max(last_pipeline, level);
    }
    if (experts > 1) last_expert = std::max(last_expert, level);
    routed[level + 1] = 1 / experts_outside - 1 / (experts_outside * experts);
    stages_outside *= stages;
    experts_outside *= experts;
  }
  crossings[0] = layers_ - chunks * stages_outside;
  routed[0] = 1 / experts_outside;

  double bandwidth = 0, latency = 0;
  for (int stage = -1; stage <= last_pipeline; ++stage) {
    const double times = 2 * crossings[stage + 1] * repeated_;  // forward and backward
    if (times <= 0) continue;
    for (int with = -1; with <= last_expert; ++with) {
      const int level = std::max(stage, with);
      if (level < 0) continue;
      bandwidth += times * routed[with + 1] * links_[level].seconds_per_byte;
    }
    const int waits = std::max(stage, last_expert);
    if (waits >= 0) latency += times * links_[waits].latency;
  }
  return {Seconds(bandwidth * d_model_ * batch_ * word_), Seconds(latency)};
}

NetworkTimes Network::times(const Layout& layout) const {
  NetworkTimes out;
  const auto [tensor_bandwidth, tensor_latency] = tensor(layout.tensor_model, layout.tensor_ff);
  const auto [pipeline_bandwidth, pipeline_latency] =
      pipeline(layout.pipeline, layout.expert, layout.interleave);
  out.tensor = tensor_bandwidth;
  out.tensor_latency = tensor_latency;
  out.pipeline = pipeline_bandwidth;
  out.pipeline_latency = pipeline_latency;
  out.data = data_bandwidth(layout.data);
  out.data_latency = data_latency(layout.data);
  return out;
}

}  // namespace headway::limits

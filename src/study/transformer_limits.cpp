#include "study/transformer_limits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headway {
namespace {

constexpr std::int64_t kHeadDim = 128, kVocabulary = 131'072, kSequence = 2048;
constexpr std::int64_t kMostTensor = 32, kMostStages = 256, kMostMicroBatch = 2, kMostChunks = 4;
constexpr int kMostDoublings = 6;

Job job_of(const limits::Shape& shape) {
  Job out;
  out.sequence = kSequence;
  out.global_batch = std::max<std::int64_t>(1, shape.batch_tokens / kSequence);
  out.recipe = recipe_from("bf16");
  out.attention = AttentionKernel::flash2;
  return out;
}

}  // namespace

// [LIMIT-34] d_model, L and d_ff of the study's shape ([LIMIT-5]); heads of 128, as many of keys as
// of queries; vocabulary of 131,072, sequences of 2048 tokens; batch and tokens of the study.
// Parameters: (4 d^2 + 8 d^2) L instead of 8 d^2 L, and the embeddings: its compute is about 1.5
// times the study's at the same width. The cluster's constants hold at any size: an extrapolation.
Model transformer_of(const limits::Shape& shape) {
  Model out;
  out.name = "transformer-" + std::to_string(shape.d_model);
  out.source = "the width and depth of the limits study";
  out.hidden = shape.d_model;
  out.vocabulary = kVocabulary;
  out.maximum_sequence = kSequence;
  Layer layer;
  layer.attention = Attention{};
  layer.attention->heads = layer.attention->kv_heads = shape.d_model / kHeadDim;
  layer.attention->head_dim = layer.attention->value_dim = kHeadDim;
  layer.feed_forward = FeedForward{};
  layer.feed_forward->width = shape.d_ff;
  layer.feed_forward->activation = Activation::gelu;
  out.kinds.push_back(layer);
  out.pattern.assign(static_cast<std::size_t>(shape.layers), 0);
  return out;
}

Cluster extended_to(Cluster cluster, std::int64_t accelerators) {
  cluster.levels.back().size = std::max(cluster.levels.back().size, accelerators);
  cluster.accelerators = cluster.levels.back().size;
  return cluster;
}

// [LIMIT-35] Tried: tp 1 ... 32, pp 1 ... 256, dp the rest, all powers of two; micro-batches of 1
// and 2 sequences; 1, 2 and 4 virtual stages where there is a pipeline; ZeRO 1, and 3 without a
// pipeline; no recomputation and full. Megatron's habits, sequence parallelism, flash attention,
// bf16. The best of these, not of all layouts: a lower bound of what is possible.
std::optional<TransformerRun> fastest_transformer(const limits::Shape& shape,
                                                  const Cluster& cluster,
                                                  const Calibration& calibration,
                                                  std::int64_t accelerators) {
  const Model model = transformer_of(shape);
  const Job job = job_of(shape);
  const Cluster whole = extended_to(cluster, accelerators);
  std::optional<TransformerRun> best;
  std::size_t tried = 0;
  const auto consider = [&](const Layout& layout) {
    if (!check(model, job, layout, whole).empty()) return;
    ++tried;
    Forecast found = forecast(model, job, layout, whole, calibration);
    if (!found.fits || (best && found.step_time >= best->forecast.step_time)) return;
    best = TransformerRun{accelerators, layout, std::move(found), Seconds(), 0};
  };
  Layout layout;
  for (layout.tp = 1; layout.tp <= std::min(kMostTensor, accelerators); layout.tp *= 2) {
    const std::int64_t rest = accelerators / layout.tp;
    for (layout.pp = 1; layout.pp <= std::min(kMostStages, rest); layout.pp *= 2) {
      layout.dp = rest / layout.pp;
      if (layout.dp * layout.tp * layout.pp != accelerators) continue;
      for (layout.micro_batch = 1; layout.micro_batch <= kMostMicroBatch; layout.micro_batch *= 2) {
        if (job.global_batch % (layout.dp * layout.micro_batch) != 0) continue;
        const std::int64_t chunks = layout.pp > 1 ? kMostChunks : 1;
        for (layout.vpp = 1; layout.vpp <= chunks; layout.vpp *= 2) {
          for (const Recompute recompute : {Recompute::none, Recompute::full}) {
            layout.recompute = recompute;
            for (const int zero : {1, 3}) {
              if (zero == 3 && layout.pp > 1) continue;
              layout.zero = zero;
              consider(layout);
            }
          }
        }
      }
    }
  }
  if (!best) return std::nullopt;
  best->tried = tried;
  best->duration = best->forecast.step_time * limits::steps_of(shape);
  return best;
}

std::optional<TransformerRun> smallest_transformer_cluster(const limits::Setting& setting,
                                                           const limits::Shape& shape,
                                                           const Cluster& cluster,
                                                           const Calibration& calibration) {
  const FlopsPerSecond peak = cluster.accelerator.peak_of(Precision::bf16);
  if (!(peak > FlopsPerSecond())) return std::nullopt;
  const double least = std::max(1.0, shape.training / (setting.duration * peak));
  const int first = static_cast<int>(std::ceil(std::log2(least)));
  for (int i = first; i <= first + kMostDoublings; ++i) {
    auto found = fastest_transformer(shape, cluster, calibration, std::int64_t{1} << i);
    if (found && found->duration <= setting.duration) return found;
  }
  return std::nullopt;
}

}  // namespace headway

#include "study/limits/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "method/methods.hpp"
#include "run/method.hpp"

namespace headway {
namespace {

constexpr std::int64_t kHeadDim = 128, kVocabulary = 131'072;
constexpr std::int64_t kMostTensor = 64, kMostContext = 16, kMostStages = 512;
constexpr std::int64_t kMostMicroBatch = 4, kMostChunks = 16;
constexpr double kMostDoublings = 6, kLargestCluster = 50;  // powers of two
constexpr double kLeastRecomputed = 11.0 / 9;

std::int64_t sequence_of(const limits::Shape& shape) {
  return shape.batch_tokens / shape.batch_sequences;
}

Job job_of(const limits::Setting& setting, const limits::Shape& shape) {
  Job out;
  out.sequence = sequence_of(shape);
  out.global_batch = shape.batch_sequences;
  out.recipe = recipe_from(to_name(setting.precision));
  out.attention = AttentionKernel::flash2;
  const limits::Relaxation& relaxation = setting.relaxation;
  const MethodRow* const row = relaxation.name.empty() ? nullptr : method_row(relaxation.name);
  if (row == nullptr) return out;
  out.method = row->usual;
  out.method.row = row;
  if (out.method.meeting == Meeting::seldom) {
    out.method.every = static_cast<std::int64_t>(relaxation.sync_every);
    out.method.fragments = std::min(out.method.fragments, out.method.every);
    out.method.delay = std::min(out.method.delay, out.method.every);
  }
  // Of sites each is a replica.
  if (out.method.parts_replicas() && setting.machine.sites > 1) {
    out.method.replicas = setting.machine.sites;
  }
  return out;
}

// The cluster as large as needed, in the setting's sites.
Cluster on_machine(const limits::Setting& setting, const Cluster& cluster,
                   std::int64_t accelerators) {
  const std::int64_t sites = setting.machine.sites;
  if (sites < 2) return extended_to(cluster, accelerators);
  constexpr double kUnlimited = 1e15;  // bytes/s of a GPU
  const limits::Level& between = setting.machine.levels.back();
  const std::int64_t of_site = accelerators / sites;
  const BytesPerSecond each = std::min(between.bandwidth, BytesPerSecond(kUnlimited));
  return in_sites(extended_to(cluster, of_site), sites, of_site,
                  each * static_cast<double>(of_site), between.latency);
}

// Calls body(1), body(2), body(4) ... up to `most`.
template <class Body>
void for_each_power(std::int64_t most, const Body& body) {
  for (std::int64_t power = 1; power <= most; power *= 2) body(power);
}

// Every layout that is tried on a power of two of accelerators, legal or not. [LIMIT-35]
template <class Body>
void for_each_layout(const Job& job, const limits::Shape& shape, std::int64_t accelerators,
                     const Body& body) {
  const std::int64_t layers = shape.layers;
  Layout layout;
  const auto with_overlap = [&] {
    layout.overlap_tensor = Choice::framework;
    body(layout);
    if (layout.tp == 1) return;
    layout.overlap_tensor = Choice::on;
    body(layout);
  };
  const auto with_sharding = [&] {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      layout.recompute = recompute;
      for (const int zero : {1, 3}) {
        if (zero == 3 && layout.pp > 1) continue;
        layout.zero = zero;
        with_overlap();
      }
    }
  };
  const auto with_schedule = [&] {
    for (std::int64_t chunks = 1; chunks <= (layout.pp > 1 ? kMostChunks : 1); ++chunks) {
      if (chunks > 1 && layers % (layout.pp * chunks) != 0) continue;
      layout.vpp = chunks;
      with_sharding();
    }
    layout.vpp = 1;
    // Schedules that split the backward pass fill their bubbles with enough micro-batches only.
    const std::int64_t count = micro_batches(job, layout);
    if (layout.pp > 1 && count >= layout.pp) {
      layout.schedule = count >= 2 * layout.pp ? Schedule::zero_bubble_v : Schedule::zero_bubble;
      with_sharding();
    }
    layout.schedule = Schedule::one_f_one_b;
  };
  for_each_power(std::min(kMostTensor, accelerators), [&](std::int64_t tensor) {
    layout.tp = tensor;
    for_each_power(std::min(kMostContext, accelerators / layout.tp), [&](std::int64_t context) {
      layout.cp = context;
      const std::int64_t rest = accelerators / layout.tp / layout.cp;
      for_each_power(std::min(kMostStages, rest), [&](std::int64_t stages) {
        layout.pp = stages;
        layout.dp = rest / stages;
        for_each_power(kMostMicroBatch, [&](std::int64_t sequences) {
          layout.micro_batch = sequences;
          if (job.global_batch % (layout.dp * sequences) != 0) return;
          // Experts over as many ranks as share data and tensors, at most.
          for_each_power(std::gcd(shape.experts, layout.dp * layout.tp * layout.cp),
                         [&](std::int64_t experts) {
                           layout.ep = experts;
                           with_schedule();
                         });
        });
      });
    });
  });
}

}  // namespace

// [LIMIT-34] d_model, L and d_ff of the study's shape ([LIMIT-5]); heads of 128, as many of keys as
// of queries; vocabulary of 131,072; sequences, batch, tokens and precision of the setting.
// Parameters: (4 d^2 + 8 d^2) L instead of 8 d^2 L, and the embeddings: its compute is about 1.5
// times the study's at the same width. The cluster's constants hold at any size: an extrapolation.
Model transformer_of(const limits::Shape& shape) {
  Model out;
  out.name = "transformer-" + std::to_string(shape.d_model);
  out.source = "the width and depth of the limits study";
  out.hidden = shape.d_model;
  out.vocabulary = kVocabulary;
  out.maximum_sequence = sequence_of(shape);
  Layer layer;
  layer.attention = Attention{};
  layer.attention->heads = layer.attention->kv_heads = shape.d_model / kHeadDim;
  layer.attention->head_dim = layer.attention->value_dim = kHeadDim;
  FeedForward each;
  each.width = shape.d_ff;
  each.activation = Activation::gelu;
  if (shape.experts > 1) {
    layer.experts = Experts{.count = shape.experts, .active = 1, .each = each};
  } else {
    layer.feed_forward = each;
  }
  out.kinds.push_back(layer);
  out.pattern.assign(static_cast<std::size_t>(shape.layers), 0);
  return out;
}

Cluster extended_to(Cluster cluster, std::int64_t accelerators) {
  cluster.levels.back().size = std::max(cluster.levels.back().size, accelerators);
  cluster.accelerators = cluster.levels.back().size;
  return cluster;
}

Problems transformer_problems(const limits::Setting& setting, const Cluster& cluster) {
  Problems out;
  const auto refuse = [&](const std::string& why) {
    out.push_back({"setting '" + printable(setting.name) + "'", why});
  };
  const limits::Relaxation& relaxation = setting.relaxation;
  if ((!relaxation.method.empty() && relaxation.name.empty()) || relaxation.altered ||
      setting.steps_between_syncs > 1) {
    refuse("has numbers that no method of runs has; legal: relax with a method's name, sync-every");
  }
  if (setting.machine.replicas_cross) {
    refuse("has sites that are unlike one another; real transformers are asked of like ones");
  }
  const std::string precision(to_name(setting.precision));
  if (recipe_from(precision) == nullptr) {
    refuse("trains in " + precision + ", for which there is no recipe");
  } else if (!(cluster.accelerator.peak_of(setting.precision) > FlopsPerSecond())) {
    refuse("trains in " + precision + ", which " + printable(cluster.accelerator.title) +
           " does not have");
  }
  return out;
}

// [LIMIT-38] The products of the layers at the peak, and the pipeline: a rank does 1/n of them in m
// micro-batches, and with v chunks a stage waits for (pp - 1)/v of the work of one (zero-bubble
// schedules: not at all):
//   t >= 6 P tokens / (n peak) (1 + (pp - 1) / (v m)),  times 11/9 with full recomputation, as all
//   of a forward pass but the last product of a layer, a third of it, is done again.
// Only to leave out what cannot be the fastest. Of forward passes alone a third; of losses of
// stages nothing waits.
Seconds least_step_time(const limits::Shape& shape, const Job& job, const Layout& layout,
                        FlopsPerSecond peak) {
  const double d = static_cast<double>(shape.d_model);
  const double weights =
      static_cast<double>(shape.layers) * d * (4 * d + 2 * static_cast<double>(shape.d_ff));
  const Flops products(6 * weights * static_cast<double>(shape.batch_tokens));
  double times = layout.recompute == Recompute::full ? kLeastRecomputed : 1;
  if (job.method.forward_only) return (products / 3) / (static_cast<double>(layout.ranks()) * peak);
  if (layout.losses == Losses::model && layout.schedule == Schedule::one_f_one_b) {
    times *= 1 + static_cast<double>(layout.pp - 1) /
                     static_cast<double>(layout.vpp * micro_batches(job, layout));
  }
  return times * products / (static_cast<double>(layout.ranks()) * peak);
}

namespace {

// [LIMIT-38] What a rank computes at least, whatever the schedule: the mean over the stages, each
// micro-batch. To place the slots of a long pipeline takes a hundred times as long as to say this.
Seconds least_busy_time(Run run, const Calibration& calibration) {
  run.layout.schedule = Schedule::one_f_one_b;
  Seconds all(0);
  for (const StageTime& stage : forecast(run, calibration).pipeline.stages) {
    all += static_cast<double>(stage.stages) * stage.total();
  }
  constexpr double kRounding = 1 - 1e-9;
  return kRounding * static_cast<double>(micro_batches(run.job, run.layout)) /
         static_cast<double>(run.layout.pp) * all;
}

}  // namespace

// [LIMIT-35] Tried: tp 1 ... 64, cp 1 ... 16, pp 1 ... 512, dp the rest, all powers of two;
// micro-batches of 1, 2 and 4 sequences; pipelines with 1 ... 16 virtual stages of equally many
// layers, ZB-V with 2 pp micro-batches or more, ZB-H1 with pp; ZeRO 1, and 3 without a pipeline; no
// recomputation and full; tensor-parallel calls as the framework has them, and under products.
// Megatron's habits, sequence parallelism, flash attention, the setting's precision. The best of
// these, not of all layouts: a lower bound of what is possible.
std::optional<TransformerRun> fastest_transformer(const limits::Setting& setting,
                                                  const limits::Shape& shape,
                                                  const Cluster& cluster,
                                                  const Calibration& calibration,
                                                  std::int64_t accelerators, Seconds duration) {
  if (shape.layers > kMostLayers) return std::nullopt;  // no model may have more
  if (accelerators % std::max<std::int64_t>(1, setting.machine.sites) != 0) return std::nullopt;
  Run run{transformer_of(shape),
          on_machine(setting, cluster, accelerators),
          job_of(setting, shape),
          {}};
  const FlopsPerSecond peak = cluster.accelerator.peak_of(setting.precision);
  std::optional<TransformerRun> best;
  Seconds longest = duration / limits::steps_of(shape);
  std::size_t priced = 0;
  for_each_layout(run.job, shape, accelerators, [&](Layout layout) {
    if (setting.machine.sites > 1) {
      layout.order = {Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp};
    }
    follow(run.job.method, layout);
    if (least_step_time(shape, run.job, layout, peak) > longest) return;
    run.layout = layout;
    if (!is_legal(run)) return;
    if (is_placed(layout.schedule) && least_busy_time(run, calibration) > longest) return;
    ++priced;
    Forecast found = forecast(run, calibration);
    if (!found.fits || found.step_time > longest) return;
    if (best && found.step_time >= best->forecast.step_time) return;
    longest = found.step_time;
    best = TransformerRun{accelerators, layout, std::move(found), Seconds(), Flops(), 0};
  });
  if (!best) return std::nullopt;
  best->priced = priced;
  best->duration = best->forecast.step_time * limits::steps_of(shape);
  best->training = best->forecast.model_flops_per_accelerator * static_cast<double>(accelerators) *
                   best->duration;
  return best;
}

std::optional<TransformerRun> smallest_transformer_cluster(const limits::Setting& setting,
                                                           const limits::Shape& shape,
                                                           const Cluster& cluster,
                                                           const Calibration& calibration) {
  const FlopsPerSecond peak = cluster.accelerator.peak_of(setting.precision);
  if (!(peak > FlopsPerSecond())) return std::nullopt;
  const std::int64_t shared = limits::odd_part_of_sites(setting.machine);
  const double least =
      std::max(1.0, shape.training / (setting.duration * peak) / static_cast<double>(shared));
  const double first = std::min(std::ceil(std::log2(least)), kLargestCluster);
  for (double i = first; i <= std::min(first + kMostDoublings, kLargestCluster); ++i) {
    const std::int64_t accelerators = shared * static_cast<std::int64_t>(std::exp2(i));
    auto found =
        fastest_transformer(setting, shape, cluster, calibration, accelerators, setting.duration);
    if (found) return found;
  }
  return std::nullopt;
}

// [LIMIT-36] The study counts from the sustained peak of large products, which no transformer
// reaches; here the best MFU of the narrower models takes its place.
std::optional<std::size_t> end_of_linear_scaling(std::span<const double> mfu, double share) {
  double best = 0;
  for (std::size_t i = 0; i < mfu.size(); ++i) {
    if (mfu[i] <= share * best) return i;
    best = std::max(best, mfu[i]);
  }
  return std::nullopt;
}

}  // namespace headway

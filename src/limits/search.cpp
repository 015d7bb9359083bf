#include "limits/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "limits/divisors.hpp"
#include "limits/placement.hpp"

namespace headway::limits {
namespace {

constexpr std::size_t kMicroBatchChoices = 4;
constexpr std::int64_t kMostTensorAspect = 4;
constexpr int kMostDoublings = 60;

std::int64_t integer_root(std::int64_t value) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root > value) --root;
  while ((root + 1) * (root + 1) <= value) ++root;
  return root;
}

Split on_one_level(std::int64_t degree) {
  Split out;
  out.at[0] = degree;
  return out;
}

// What is known of one degree of data parallelism before anything else is chosen.
struct DataChoice {
  std::int64_t degree = 0;
  std::vector<std::int64_t> micro_batches;  // what may divide a replica's batch
};

struct TensorChoice {
  std::int64_t model = 0, ff = 0;
  LayerMatmuls layer;
};

}  // namespace

struct Search::State {
  const Setting& setting;
  const Shape& shape;
  double steps = 0;
  std::vector<DataChoice> data_choices;
  std::vector<TensorChoice> tensor_choices;
  std::vector<Candidate> candidates;

  State(const Setting& of, const Shape& with) : setting(of), shape(with), steps(steps_of(with)) {}

  const std::vector<std::int64_t>& micro_batches(std::int64_t data);
  const LayerMatmuls& layer(std::int64_t tensor_model, std::int64_t tensor_ff);
  void add_schedules(const Degrees& degrees, const LayerMatmuls& layer, const Network& bound,
                     Seconds cap);
  void collect(std::int64_t gpus, const Network& bound, Seconds cap);
};

const std::vector<std::int64_t>& Search::State::micro_batches(std::int64_t data) {
  for (const DataChoice& choice : data_choices) {
    if (choice.degree == data) return choice.micro_batches;
  }
  data_choices.push_back({data, divisors(shape.batch_tokens / data / shape.experts)});
  return data_choices.back().micro_batches;
}

const LayerMatmuls& Search::State::layer(std::int64_t tensor_model, std::int64_t tensor_ff) {
  for (const TensorChoice& choice : tensor_choices) {
    if (choice.model == tensor_model && choice.ff == tensor_ff) return choice.layer;
  }
  tensor_choices.push_back(
      {tensor_model, tensor_ff, LayerMatmuls(setting, shape, tensor_model, tensor_ff)});
  return tensor_choices.back().layer;
}

// Every schedule of the degrees whose bound is below `cap`.
void Search::State::add_schedules(const Degrees& degrees, const LayerMatmuls& layer_matmuls,
                                  const Network& bound, Seconds cap) {
  const auto& choices = micro_batches(degrees.data);
  const std::int64_t stages = waiting_stages(setting, degrees.pipeline);
  for (const bool zero_bubble : {false, true}) {
    if (zero_bubble && setting.relaxation.forward_only) continue;  // it delays backward passes
    Layout layout;
    layout.data = on_one_level(degrees.data);
    layout.tensor_model = on_one_level(degrees.tensor_model);
    layout.tensor_ff = on_one_level(degrees.tensor_ff);
    layout.pipeline = on_one_level(degrees.pipeline);
    layout.expert = on_one_level(degrees.expert);
    layout.zero_bubble = zero_bubble;
    layout.interleave = !zero_bubble && stages > 1 ? shape.layers / degrees.pipeline : 1;
    const NetworkTimes network = bound.times(layout);

    // Few micro-batches keep products large; more shorten the bubble.
    const std::int64_t least = zero_bubble ? 2 * stages : stages;
    auto next = std::lower_bound(choices.begin(), choices.end(), least);
    const std::size_t most = zero_bubble ? 1 : kMicroBatchChoices;
    for (std::size_t i = 0; i < most && next != choices.end(); ++i, ++next) {
      layout.micro_batches = *next;
      Candidate candidate;
      candidate.degrees = degrees;
      candidate.micro_batches = *next;
      candidate.interleave = layout.interleave;
      candidate.zero_bubble = zero_bubble;
      candidate.matmul = matmul_time(setting, shape, layout, layer_matmuls);
      candidate.bubble = bubble_share(stages, layout.interleave, *next, zero_bubble);
      candidate.bound =
          step_time(setting, candidate.matmul, network, candidate.bubble, zero_bubble);
      if (is_below(candidate.bound, cap)) candidates.push_back(candidate);
    }
  }
}

// [LIMIT-17] All layouts of the model on `gpus`, placement apart: EP = gcd(GPUs, S); TP, DP, PP
// with product GPUs / EP that divide d_model d_ff, the batch and the layers; TPf from sqrt(TP) to
// 4 sqrt(TP), as d_ff is four times d_model.
void Search::State::collect(std::int64_t gpus, const Network& bound, Seconds cap) {
  candidates.clear();
  Degrees degrees;
  degrees.expert = std::gcd(gpus, shape.experts);
  const std::int64_t rest = gpus / degrees.expert;
  const std::vector<std::int64_t> factors = divisors(rest);
  for (const std::int64_t tensor : factors) {
    if ((shape.d_model * shape.d_ff) % tensor != 0) continue;
    const std::int64_t root = integer_root(tensor);
    for (const std::int64_t ff : factors) {
      if (ff < root || tensor % ff != 0) continue;
      if (ff > kMostTensorAspect * root) break;
      if (shape.d_model % (tensor / ff) != 0 || shape.d_ff % ff != 0) continue;
      degrees.tensor_model = tensor / ff;
      degrees.tensor_ff = ff;
      const LayerMatmuls layer_matmuls = layer(degrees.tensor_model, ff);
      for (const std::int64_t stages : factors) {
        if (stages > rest / tensor) break;
        if (rest / tensor % stages != 0 || shape.layers % stages != 0) continue;
        degrees.pipeline = stages;
        degrees.data = rest / tensor / stages;
        if (shape.batch_tokens % degrees.data != 0) continue;
        if (!fits(setting, shape, gpus, degrees.data)) continue;
        add_schedules(degrees, layer_matmuls, bound, cap);
      }
    }
  }
}

Search::Search(const Setting& setting, const Shape& shape)
    : state_(std::make_unique<State>(setting, shape)) {}
Search::~Search() = default;
Search::Search(Search&&) noexcept = default;

std::optional<Run> Search::fastest(std::int64_t gpus, Seconds duration) {
  const Network network(state_->setting, state_->shape, gpus);
  const Seconds cap = duration / state_->steps;
  state_->collect(gpus, network.collapsed(0), cap);

  // From the most promising candidate on, until no bound is below what was found.
  std::vector<Candidate>& candidates = state_->candidates;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
  Placements placements(state_->setting, network, gpus, cap);
  for (const Candidate& candidate : candidates) {
    if (!is_below(candidate.bound, placements.best_time())) break;
    placements.consider(candidate);
  }
  if (!placements.found()) return std::nullopt;

  Run out;
  out.shape = state_->shape;
  out.gpus = gpus;
  out.layout = placements.best();
  out.step = step_times(state_->setting, state_->shape, out.layout);
  out.duration = out.step.total * state_->steps;
  out.utilization = utilization(state_->setting, state_->shape, gpus, out.step.total);
  return out;
}

namespace {

// Calls body(gpus) for experts x 2^i GPUs, i = 0, 1, ..., from the first cluster on that could
// finish in time at its sustained peak, until it answers true.
template <class Body>
void for_each_cluster(const Setting& setting, const Shape& shape, const Body& body) {
  const Gpu& gpu = setting.machine.gpu;
  const double least =
      shape.training / (setting.duration * gpu.sustained * gpu.peak_of(setting.precision));
  for (int i = 0; i < kMostDoublings; ++i) {
    const double gpus = std::ldexp(static_cast<double>(shape.experts), i);
    if (gpus < least) continue;
    if (gpus > std::ldexp(1.0, kMostDoublings)) return;
    if (body(static_cast<std::int64_t>(gpus))) return;
  }
}

}  // namespace

// [LIMIT-17] The curve shows a model at the smallest cluster that ends in time; as clusters double,
// runs take between half the duration and all of it, and the curve is not smooth.
std::optional<Run> Search::smallest_cluster() {
  std::optional<Run> out;
  for_each_cluster(state_->setting, state_->shape, [&](std::int64_t gpus) {
    out = fastest(gpus, state_->setting.duration);
    return out.has_value();
  });
  return out;
}

std::optional<Run> Search::fastest_of_all() {
  std::optional<Run> out;
  Seconds cap(std::numeric_limits<double>::infinity());
  for_each_cluster(state_->setting, state_->shape, [&](std::int64_t gpus) {
    if (std::optional<Run> run = fastest(gpus, cap)) {
      cap = run->duration;
      out = std::move(run);
    }
    return false;
  });
  return out;
}

}  // namespace headway::limits

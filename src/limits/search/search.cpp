#include "limits/search/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/divisors.hpp"
#include "limits/search/placement.hpp"
#include "limits/search/submodels.hpp"

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

Split on_level(std::size_t level, std::int64_t degree) {
  Split out;
  out.at[level] = degree;
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

// Bounds of the network times of one degree, by which [LIMIT-12] tells candidates apart.
struct Bounds {
  bool data_allowed = false, stages_allowed = false;
  Seconds data, data_latency;
  std::array<std::array<Seconds, 2>, 2> pipeline{};  // bandwidth, latency; by zero_bubble
};

// The most promising candidate is on top of a heap: the least bound of time, then of communication.
bool is_behind(const Candidate* a, const Candidate* b) {
  if (a->time != b->time) return a->time > b->time;
  if (a->communication != b->communication) return a->communication > b->communication;
  const auto key = [](const Candidate& c) {
    const Degrees& d = c.degrees;
    return std::array{d.data,          d.tensor_model, d.pipeline,
                      c.micro_batches, c.interleave,   std::int64_t{c.zero_bubble}};
  };
  return key(*a) > key(*b);
}

}  // namespace

struct Search::State {
  const Setting& setting;
  const Shape& shape;
  double steps = 0;
  std::size_t outermost = 0;  // level
  std::vector<DataChoice> data_choices;
  std::vector<TensorChoice> tensor_choices;
  std::vector<Bounds> bounds;  // of each divisor of the GPUs outside the experts
  std::vector<Candidate> candidates;
  std::vector<const Candidate*> heap;    // of them
  std::unique_ptr<Submodels> submodels;  // where the model is trained as several narrow ones

  State(const Setting& of, const Shape& with)
      : setting(of), shape(with), steps(steps_of(with)), outermost(of.machine.levels.size() - 1) {
    if (setting.relaxation.submodels > 1) submodels = std::make_unique<Submodels>(of, with);
  }

  // The least number of groups of replicas that meet rarely, wherever the replicas lie.
  std::int64_t least_loose(std::int64_t data) const {
    const Relaxation& relaxation = setting.relaxation;
    return relaxation.sync_every > 1 && relaxation.loose_level == 0 ? data : 1;
  }
  const std::vector<std::int64_t>& micro_batches(std::int64_t data);
  const LayerMatmuls& layer(std::int64_t tensor_model, std::int64_t tensor_ff);
  std::int64_t interleave(std::int64_t stages, bool zero_bubble) const {
    const bool waits = waiting_stages(setting, stages) > 1;
    return !zero_bubble && waits ? shape.layers / stages : 1;
  }
  // Whether products alone leave room for a layout. [LIMIT-39]
  bool could_end(std::int64_t gpus, Seconds duration) const {
    const Seconds least = least_matmul_time(setting, shape, gpus, std::gcd(gpus, shape.experts),
                                            /*zero_bubble=*/false);
    return least * steps * (1 - 1e-12) <= duration;
  }
  void bound_each(const std::vector<std::int64_t>& factors, std::int64_t gpus, std::int64_t experts,
                  const Network& bound);
  void add_schedules(Candidate candidate, const LayerMatmuls& layer, const Bounds& stages,
                     const Placements& placements);
  void collect(std::int64_t gpus, const Network& bound, const Placements& placements);
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

void Search::State::bound_each(const std::vector<std::int64_t>& factors, std::int64_t gpus,
                               std::int64_t experts, const Network& bound) {
  bounds.assign(factors.size(), {});
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Split split = on_level(outermost, factors[i]);
    Bounds& of = bounds[i];
    of.data_allowed = shape.batch_tokens % factors[i] == 0 &&
                      fits(setting, shape, gpus, factors[i], least_loose(factors[i]));
    of.data = bound.data_bandwidth(split);
    of.data_latency = bound.data_latency(split);
    of.stages_allowed = shape.layers % factors[i] == 0;
    if (!of.stages_allowed) continue;
    for (const bool zero_bubble : {false, true}) {
      of.pipeline[zero_bubble] =
          bound.pipeline(split, on_level(outermost, experts), interleave(factors[i], zero_bubble));
    }
  }
}

// Every schedule of the candidate's degrees that could be better than what was found.
void Search::State::add_schedules(Candidate candidate, const LayerMatmuls& layer_matmuls,
                                  const Bounds& stages_bounds, const Placements& placements) {
  const std::int64_t stages = waiting_stages(setting, candidate.degrees.pipeline);
  const auto& choices = micro_batches(candidate.degrees.data);
  for (const bool zero_bubble : {false, true}) {
    if (zero_bubble && setting.relaxation.forward_only) continue;  // it delays backward passes
    candidate.zero_bubble = zero_bubble;
    candidate.interleave = interleave(candidate.degrees.pipeline, zero_bubble);
    candidate.network.pipeline = stages_bounds.pipeline[zero_bubble][0];
    candidate.network.pipeline_latency = stages_bounds.pipeline[zero_bubble][1];
    candidate.communication = communication_of(candidate.network);

    // Few micro-batches keep products large; more shorten the bubble.
    const std::int64_t least = zero_bubble ? 2 * stages : stages;
    auto next = std::lower_bound(choices.begin(), choices.end(), least);
    const std::size_t most = zero_bubble ? 1 : kMicroBatchChoices;
    for (std::size_t i = 0; i < most && next != choices.end(); ++i, ++next) {
      candidate.micro_batches = *next;
      candidate.matmul = matmul_time(setting, shape, candidate.degrees, *next, layer_matmuls);
      candidate.bubble = bubble_share(stages, candidate.interleave, *next, zero_bubble);
      candidate.time =
          step_time(setting, candidate.matmul, candidate.network, candidate.bubble, zero_bubble);
      if (placements.could_improve(candidate.time, candidate.communication)) {
        candidates.push_back(candidate);
      }
    }
  }
}

// [LIMIT-17] All layouts of the model on `gpus`, placement apart: EP = gcd(GPUs, S); TP, DP, PP
// with product GPUs / EP that divide d_model d_ff, the batch and the layers; TPf from sqrt(TP) to
// 4 sqrt(TP), as d_ff is four times d_model.
void Search::State::collect(std::int64_t gpus, const Network& bound, const Placements& placements) {
  candidates.clear();
  Candidate candidate;
  Degrees& degrees = candidate.degrees;
  degrees.expert = std::gcd(gpus, shape.experts);
  const std::int64_t rest = gpus / degrees.expert;
  const std::vector<std::int64_t> factors = divisors(rest);
  bound_each(factors, gpus, degrees.expert, bound);
  // Whether any schedule with these network times could be better. [LIMIT-39]
  const std::array<Seconds, 2> least = {
      least_matmul_time(setting, shape, gpus, degrees.expert, false),
      least_matmul_time(setting, shape, gpus, degrees.expert, true)};
  const auto could_be_better = [&](const NetworkTimes& network) {
    for (const bool zero_bubble : {false, true}) {
      const Seconds time = step_time(setting, least[zero_bubble], network, 0, zero_bubble);
      if (placements.could_improve(time, Seconds())) return true;
    }
    return false;
  };
  const auto index_of = [&](std::int64_t factor) {
    return static_cast<std::size_t>(std::lower_bound(factors.begin(), factors.end(), factor) -
                                    factors.begin());
  };
  for (const std::int64_t tensor : factors) {
    if ((shape.d_model * shape.d_ff) % tensor != 0) continue;
    const std::int64_t root = integer_root(tensor);
    for (std::size_t f = index_of(root); f < factors.size(); ++f) {
      const std::int64_t ff = factors[f];
      if (ff > kMostTensorAspect * root) break;
      if (tensor % ff != 0) continue;
      if (shape.d_model % (tensor / ff) != 0 || shape.d_ff % ff != 0) continue;
      degrees.tensor_model = tensor / ff;
      degrees.tensor_ff = ff;
      const auto times = bound.tensor(on_level(outermost, degrees.tensor_model),
                                      on_level(outermost, degrees.tensor_ff));
      candidate.network = {};
      candidate.network.tensor = times[0];
      candidate.network.tensor_latency = times[1];
      if (!could_be_better(candidate.network)) continue;
      const LayerMatmuls& layer_matmuls = layer(degrees.tensor_model, ff);
      for (std::size_t p = 0; p < factors.size() && factors[p] <= rest / tensor; ++p) {
        if (!bounds[p].stages_allowed || rest / tensor % factors[p] != 0) continue;
        degrees.pipeline = factors[p];
        degrees.data = rest / tensor / factors[p];
        const Bounds& of_data = bounds[index_of(degrees.data)];
        if (!of_data.data_allowed) continue;
        candidate.network.pipeline = candidate.network.pipeline_latency = Seconds();
        candidate.network.data = of_data.data;
        candidate.network.data_latency = of_data.data_latency;
        if (!could_be_better(candidate.network)) continue;
        add_schedules(candidate, layer_matmuls, bounds[p], placements);
      }
    }
  }
}

Search::Search(const Setting& setting, const Shape& shape)
    : state_(std::make_unique<State>(setting, shape)) {}
Search::~Search() = default;
Search::Search(Search&&) noexcept = default;

std::optional<Run> Search::fastest(std::int64_t gpus, Seconds duration) {
  if (state_->submodels) return state_->submodels->fastest(gpus, duration);
  if (!state_->could_end(gpus, duration)) return std::nullopt;
  const Network network(state_->setting, state_->shape, gpus);
  const Seconds cap = duration / state_->steps;
  Placements placements(state_->setting, state_->shape, network, gpus, cap);
  state_->collect(gpus, network.collapsed(static_cast<int>(state_->outermost)), placements);

  // From the most promising candidate on, until no bound is below what was found.
  std::vector<const Candidate*>& heap = state_->heap;
  heap.clear();
  for (const Candidate& candidate : state_->candidates) heap.push_back(&candidate);
  std::make_heap(heap.begin(), heap.end(), is_behind);
  for (auto end = heap.end(); end != heap.begin(); --end) {
    const Candidate& next = *heap.front();
    if (placements.could_improve(next.time, next.communication)) {
      placements.consider(next);
    } else if (next.time > placements.best_time()) {
      break;
    }
    std::pop_heap(heap.begin(), end, is_behind);
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

// Experts x 2^i GPUs, i = 0, 1, ..., times what the sites have beside powers of two.
std::vector<std::int64_t> clusters(const Setting& setting, const Shape& shape, Seconds duration) {
  const Gpu& gpu = setting.machine.gpu;
  const double least = shape.training / (duration * gpu.sustained * gpu.peak_of(setting.precision));
  const std::int64_t unit = std::lcm(shape.experts, odd_part_of_sites(setting.machine));
  std::vector<std::int64_t> out;
  for (int i = 0; i < kMostDoublings; ++i) {
    const double gpus = std::ldexp(static_cast<double>(unit), i);
    if (gpus > std::ldexp(1.0, kMostDoublings)) break;
    if (gpus >= least) out.push_back(static_cast<std::int64_t>(gpus));
  }
  return out;
}

// [LIMIT-17] The curve shows a model at the smallest cluster that ends in time; as clusters double,
// runs take between half the duration and all of it, and the curve is not smooth.
std::optional<Run> Search::smallest_cluster() {
  const Seconds duration = state_->setting.duration;
  for (const std::int64_t gpus : clusters(state_->setting, state_->shape, duration)) {
    if (std::optional<Run> run = fastest(gpus, duration)) return run;
  }
  return std::nullopt;
}

// From `likely` outwards: the best one is near it, and what it takes leaves little of the others to
// search. Without it every fourth cluster first.
std::optional<Run> Search::fastest_of_all(Seconds longest, std::int64_t likely) {
  const auto all = clusters(state_->setting, state_->shape, longest);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto distance = [&](std::size_t i) {
    if (likely == 0) return i % 4 == 0 ? 0.0 : 1.0;
    return std::abs(std::log2(static_cast<double>(all[i]) / static_cast<double>(likely)));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  std::optional<Run> out;
  for (const std::size_t i : order) {
    if (std::optional<Run> run = fastest(all[i], longest)) {
      longest = run->duration;
      out = std::move(run);
    }
  }
  return out;
}

}  // namespace headway::limits

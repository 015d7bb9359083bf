#include "study/plan/held.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace headway {
namespace {

constexpr Bytes kEndless(std::numeric_limits<double>::infinity());

std::vector<std::size_t> layers_of(const std::vector<Block>& blocks, const StageClass& stage) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (is_layer(blocks[i].kind) && stage.counts[i] > 0) out.push_back(i);
  }
  return out;
}

}  // namespace

Layout PlanHeld::layout_of(const InnerChoice& choice) const {
  Layout of = bare_;
  apply(choice, of);
  Layout out = shard_of(of);
  static_cast<PipelineSplit&>(out) = of;
  return out;
}

PlanHeld::PlanHeld(const Model& model, const Job& job, const std::vector<InnerChoice>& inner,
                   const InnerShape& shape, const Layout& bare, SampleBlocks sample)
    : legal(shape.pipes.size()),
      shape_(shape),
      bare_(bare),
      sample_(std::move(sample)),
      stages_(shape.pipes.size()),
      least_(kEndless),
      least_of_(shape.parts) {
  for (std::size_t i = 0; i < inner.size(); ++i) {
    std::vector<StageClass>& stages = stages_[shape.pipe[i]];
    if (!stages.empty()) continue;
    const Layout layout = layout_of(inner[i]);
    stages = lower_stages(Share(model, job, layout), layout, *sample_);
  }
  for (std::size_t pipe = 0; pipe < stages_.size(); ++pipe) {
    const bool differ = !stages_[pipe].front().chunks.empty();
    const bool waits = !differ && bare.losses == Losses::model;
    waits_.push_back(waits ? waits_of(shape.pipes[pipe]) : 0.0);
    least_waits_ = std::min(least_waits_, waits_.back());
  }
  std::set<std::vector<std::size_t>> layers;
  for (const auto& stages : stages_) {
    for (const StageClass& stage : stages) layers.insert(layers_of(sample_->blocks, stage));
  }
  layers_.assign(layers.begin(), layers.end());
  first_.push_back(0);
  for (const auto& stages : stages_) first_.push_back(first_.back() + stages.size());
  states_.resize(shape.shards.size() * first_.back());
  totals_.resize(states_.size());
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const std::size_t begin = at(shape.shard[i], shape.pipe[i]);
    if (totals_[begin] > Bytes(0)) continue;  // every stage holds something
    const Layout layout = layout_of(inner[i]);
    Bytes largest(0);
    for (std::size_t s = 0; s < stages_[shape.pipe[i]].size(); ++s) {
      const StageClass& stage = stages_[shape.pipe[i]][s];
      states_[begin + s] = held_states(sample_->blocks, stage, job, layout);
      MostHeld most;
      add_stage(most, stage.first, states_[begin + s], {});
      totals_[begin + s] = most.memory.total();
      largest = std::max(largest, totals_[begin + s]);
    }
    least_ = std::min(least_, largest);
  }
}

Bytes PlanHeld::least_activations(const HeldBlocks& blocks) const {
  Bytes out = kEndless;
  for (const std::vector<std::size_t>& layers : layers_) {
    Bytes most(0);
    for (const std::size_t i : layers) {
      most = std::max(most, blocks[i].saved_if_kept + blocks[i].working);
    }
    out = std::min(out, most);
  }
  return out;
}

const std::vector<Bytes>& PlanHeld::least(const InnerPart& part) {
  std::vector<Bytes>& out = least_of_[part.number];
  if (!out.empty()) return out;
  out.assign(stages_[part.pipe].size(), kEndless);
  for (const std::size_t i : part.choices) {
    const Bytes* of_choice = totals(shape_.shard[i], part.pipe);
    for (std::size_t s = 0; s < out.size(); ++s) out[s] = std::min(out[s], of_choice[s]);
  }
  return out;
}

}  // namespace headway

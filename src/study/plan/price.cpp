#include "study/plan/price.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>

#include "forecast/energy.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

// Tuples, orders and spreads of experts of which a pricer keeps what their cells share.
constexpr std::size_t kMostPlaces = 256;

// The choices of a schedule with virtual stages, and those of the states, in an inner choice.
InnerChoice pipe_of(const InnerChoice& c) {
  return {.schedule = c.schedule, .vpp = c.vpp};
}
InnerChoice shard_of(const InnerChoice& c) {
  return {.zero = c.zero,
          .reshard = c.reshard,
          .overlap_gradients = c.overlap_gradients,
          .overlap_parameters = c.overlap_parameters,
          .offload_parameters = c.offload_parameters,
          .offload_optimizer = c.offload_optimizer};
}

bool is_inner(const PlanLimit& limit) {
  return limit.field != nullptr && limit.field->axis == PlanAxis::inner;
}

// Those among the seekers whose limits on inner choices a layout passes.
Seekers of_layout(const Layout& layout, const PlanSought& sought, Seekers among) {
  for (Seekers rest = among; rest != 0; rest &= rest - 1) {
    const PlanLimit& limit = sought.limits[static_cast<std::size_t>(std::countr_zero(rest))];
    if (is_inner(limit) && !limit.passes(layout)) among &= ~(rest & (~rest + 1));
  }
  return among;
}

std::uint32_t place_of(std::vector<InnerChoice>& list, const InnerChoice& choice) {
  const auto at = std::find(list.begin(), list.end(), choice);
  const auto place = static_cast<std::uint32_t>(at - list.begin());
  if (at == list.end()) list.push_back(choice);
  return place;
}

}  // namespace

PlanCounts& PlanCounts::operator+=(const PlanCounts& other) {
  illegal += other.illegal;
  too_large += other.too_large;
  fitting += other.fitting;
  skipped += other.skipped;
  return *this;
}

// Inner choices that share blocks, next to each other in their list.
struct PlanPricer::ShapeGroup {
  struct Part {  // those with the same schedule and virtual stages
    std::uint32_t pipe;
    std::size_t first, count;
  };
  std::size_t begin, end;
  bool saves_anew;  // not the same activations as the group before
  std::vector<Part> parts;
};

// A list of inner choices taken apart.
struct PlanPricer::Shape {
  std::vector<InnerChoice> pipes, shards;  // what of them differs
  std::vector<std::uint32_t> pipe, shard;  // of each inner choice, its place there
  std::vector<ShapeGroup> groups;
  std::int64_t most_chunks = 1;  // virtual stages
  bool fills_bubbles = false;    // some schedule does

  Shape(const std::vector<InnerChoice>& list, const Job& job) {
    const auto sharded = [&](const InnerChoice& c) {
      Layout layout;
      apply(c, layout);
      return shards_weights(job, layout);
    };
    const auto same_saved = [](const InnerChoice& a, const InnerChoice& b) {
      return a.recompute == b.recompute && a.recompute_every == b.recompute_every &&
             a.offload_activations == b.offload_activations;
    };
    const auto same_blocks = [&](const InnerChoice& a, const InnerChoice& b) {
      if (!same_saved(a, b) || sharded(a) != sharded(b)) return false;
      return !sharded(a) || (a.zero == b.zero && a.reshard == b.reshard &&
                             a.overlap_gradients == b.overlap_gradients &&
                             a.overlap_parameters == b.overlap_parameters &&
                             a.offload_parameters == b.offload_parameters);
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
      pipe.push_back(place_of(pipes, pipe_of(list[i])));
      shard.push_back(place_of(shards, shard_of(list[i])));
      if (groups.empty() || !same_blocks(list[groups.back().begin], list[i])) {
        const bool anew = groups.empty() || !same_saved(list[groups.back().begin], list[i]);
        groups.push_back({i, i, anew, {}});
      }
      groups.back().end = i + 1;
      std::vector<ShapeGroup::Part>& parts = groups.back().parts;
      const auto part = std::find_if(parts.begin(), parts.end(), [&](const ShapeGroup::Part& p) {
        return p.pipe == pipe.back();
      });
      if (part == parts.end()) {
        parts.push_back({pipe.back(), i, 1});
      } else {
        ++part->count;
      }
      most_chunks = std::max(most_chunks, list[i].vpp);
      fills_bubbles = fills_bubbles || list[i].schedule >= Schedule::zero_bubble;
    }
  }
};

// A schedule with virtual stages in a place: its stages, and of them what was worked out last.
struct PlanPricer::Pipe {
  std::vector<StageClass> stages;
  std::vector<std::vector<StageCall>> transfers;  // of each class of stages
  std::vector<Bytes> least_states;                // of each class: under every choice of sharding
  std::vector<HeldActivations> held;
  std::vector<StageTime> times;
  std::optional<Assembly> assembly;        // up to the pipeline
  Flops recomputed{};                      // of all ranks in the step
  std::vector<std::optional<bool>> known;  // whether it is legal, by place of the micro-batch
  bool legal = false;
  Bytes least;          // must fit at least, whatever is sharded
  Seekers seekers = 0;  // in the group in work: it fits so far, and is of interest to them
  std::uint64_t cell = 0, held_by = 0, timed_by = 0;  // for which the above is
};

// A tuple of degrees with an order of ranks and a spread of experts.
struct PlanPricer::Place {
  Place(const DegreeTuple& degrees, const Shape& choices, const Layout& without_inner,
        const Layout& in_work, const PlanQuestion& q)
      : tuple(degrees),
        shape(choices),
        layout(without_inner),
        spans(headway::spans(layout, q.cluster)),
        sample(lower_blocks(Slice(q.model, q.job, layout))),
        pipes(shape.pipes.size()),
        states(shape.pipes.size() * shape.shards.size()),
        updates(2 * states.size()),
        prices{q.job, in_work, q.cluster, q.calibration, spans} {
    for (Block& block : sample.blocks) {
      block.ops = std::vector<Op>();
      block.calls = std::vector<Call>();
    }
  }

  const DegreeTuple& tuple;
  const Shape& shape;
  Layout layout;  // without inner choices
  Spans spans;
  LoweredBlocks sample;  // what its blocks hold, whatever the micro-batch
  std::vector<Pipe> pipes;
  std::vector<std::vector<HeldStates>> states;  // by shard and pipe; of each class of stages
  struct Update {
    std::optional<PricedUpdate> priced;
    std::int64_t micro_batch = 0;  // for which it is, where it hangs on it
  };
  std::vector<std::vector<Update>> updates;  // the same, without and with split norms
  std::optional<Bytes> least_states;         // of any choice, on the rank that holds most
  std::uint32_t micro_batch = 0;             // its place in the list
  std::int64_t micro_batches = 1;
  std::uint64_t cell = 0;  // counts those that were entered
  Prices prices;           // of the layout in work

  // The stages and states of a place that differs in the order of ranks alone.
  void hold_as(const Place& other) {
    states = other.states;
    least_states = other.least_states;
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      pipes[i].stages = other.pipes[i].stages;
      pipes[i].least_states = other.pipes[i].least_states;
      pipes[i].known = other.pipes[i].known;
    }
  }

  std::size_t at(std::size_t shard, std::size_t pipe) const { return shard * pipes.size() + pipe; }
};

PlanPricer::PlanPricer(const PlanQuestion& question)
    : q_(question),
      model_flops_(model_flops(q_.model, q_.job, AttentionFlops::full)),
      blocks_(q_.model, q_.job, q_.cluster, q_.calibration) {
  for (const auto& list : q_.space.inner_lists()) shapes_.emplace_back(list, q_.job);
  std::size_t places = 0;
  for (const DegreeTuple& t : q_.space.tuples()) {
    first_place_.push_back(places);
    places += q_.space.orders(t).size() * q_.space.experts(t).size();
  }
  places_.resize(places);
}

PlanPricer::~PlanPricer() = default;

PlanPricer::Place& PlanPricer::enter(const PlanCell& cell) {
  const DegreeTuple& tuple = q_.space.tuples()[cell.tuple];
  const std::size_t at =
      first_place_[cell.tuple] + cell.order * q_.space.experts(tuple).size() + cell.expert;
  if (places_[at] == nullptr) {
    if (open_.size() >= kMostPlaces) {
      for (const std::size_t open : open_) places_[open].reset();
      open_.clear();
    }
    open_.push_back(at);
    layout_ = q_.space.layout_of(tuple);
    apply(q_.space.orders(tuple)[cell.order], layout_);
    apply(q_.space.experts(tuple)[cell.expert], layout_);
    apply(q_.space.splits(tuple).front(), layout_);
    apply(InnerChoice{}, layout_);
    places_[at] = std::make_unique<Place>(tuple, shapes_[tuple.inner], layout_, layout_, q_);
    // What a rank holds hangs on no order of ranks.
    const std::size_t usual = first_place_[cell.tuple] + cell.expert;
    if (usual != at && places_[usual] != nullptr) places_[at]->hold_as(*places_[usual]);
  }
  Place& place = *places_[at];
  apply(q_.space.micro_batches(tuple)[cell.micro_batch], place.layout);
  apply(q_.space.splits(tuple)[cell.split], place.layout);
  place.micro_batch = cell.micro_batch;
  place.micro_batches = micro_batches(q_.job, place.layout);
  ++place.cell;
  layout_ = place.layout;
  return place;
}

// Makes the stages of a schedule where there are none yet.
void PlanPricer::make_stages(const Place& place, Pipe& pipe) {
  if (pipe.stages.empty()) {
    pipe.stages = lower_stages(Slice(q_.model, q_.job, layout_), place.sample);
  }
}

// Whether a schedule is legal in this cell: all else is by construction of the space.
bool PlanPricer::enter(const Place& place, Pipe& pipe) {
  if (pipe.cell == place.cell) return pipe.legal;
  pipe.cell = place.cell;
  make_stages(place, pipe);
  pipe.transfers.clear();
  pipe.known.resize(q_.space.micro_batches(place.tuple).size());
  std::optional<bool>& known = pipe.known[place.micro_batch];
  if (!known) known = is_legal(q_.model, q_.job, layout_, q_.cluster);
  pipe.legal = *known;
  return pipe.legal;
}

const std::vector<HeldStates>& PlanPricer::states(Place& place, std::size_t shard,
                                                  std::size_t pipe) {
  std::vector<HeldStates>& out = place.states[place.at(shard, pipe)];
  if (out.empty()) {
    const Slice slice(q_.model, q_.job, layout_);
    for (const StageClass& stage : place.pipes[pipe].stages) {
      out.push_back(held_states(place.sample.blocks, stage, slice));
    }
  }
  return out;
}

const PricedUpdate& PlanPricer::update(Place& place, std::size_t shard, std::size_t pipe,
                                       std::size_t stage) {
  std::vector<Place::Update>& updates =
      place.updates[2 * place.at(shard, pipe) + (layout_.sequence_parallel ? 1 : 0)];
  const std::vector<StageClass>& stages = place.pipes[pipe].stages;
  if (updates.empty()) updates.resize(stages.size());
  Place::Update& out = updates[stage];
  // ZeRO 2 may reduce gradients after each micro-batch.
  const std::int64_t micro_batch = layout_.zero == 2 ? layout_.micro_batch : 0;
  if (!out.priced || out.micro_batch != micro_batch) {
    StageClass made = stages[stage];
    add_step_calls(made, Slice(q_.model, q_.job, layout_), place.sample, place.spans);
    out.priced = priced_update(made, place.prices);
    out.micro_batch = micro_batch;
  }
  return *out.priced;
}

// Under the states of every layout of the place.
void PlanPricer::floor_states(Place& place) {
  if (place.least_states) return;
  const std::vector<InnerChoice>& inner = q_.space.inner(place.tuple);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const std::size_t at = place.shape.pipe[i], shard = place.shape.shard[i];
    if (!place.states[place.at(shard, at)].empty()) continue;
    apply(inner[i], layout_);
    Pipe& pipe = place.pipes[at];
    make_stages(place, pipe);
    const std::vector<HeldStates>& held = states(place, shard, at);
    pipe.least_states.resize(held.size(), Bytes(std::numeric_limits<double>::infinity()));
    for (std::size_t s = 0; s < held.size(); ++s) {
      MostHeld most;
      add_stage(most, pipe.stages[s].first, held[s], {});
      pipe.least_states[s] = std::min(pipe.least_states[s], most.memory.total());
    }
  }
  for (const Pipe& pipe : place.pipes) {
    const Bytes most = *std::max_element(pipe.least_states.begin(), pipe.least_states.end());
    place.least_states = std::min(place.least_states.value_or(most), most);
  }
}

Bytes PlanPricer::least_memory(const Place& place) const {
  return (*place.least_states + q_.calibration.of(q_.job.framework).context) * kFloorRounding;
}

// What the micro-batches of a group of layouts hold. Returns what at least must fit.
Bytes PlanPricer::hold(const Place& place, Pipe& pipe, const HeldBlocks& blocks) {
  const Slice slice(q_.model, q_.job, layout_);
  Bytes least(0);
  pipe.held.clear();
  for (std::size_t s = 0; s < pipe.stages.size(); ++s) {
    pipe.held.push_back(held_activations(blocks, pipe.stages[s], slice, place.micro_batches));
    least = std::max(least, pipe.least_states[s] + pipe.held[s].activations);
  }
  return (least + q_.calibration.of(q_.job.framework).context) * kFloorRounding;
}

// The time of a group of layouts up to what their sharding decides, which adds to it or does not:
// it may be of interest to nobody any more.
template <class Interested>
void PlanPricer::time(const Place& place, Pipe& pipe, const std::vector<PricedBlock>& blocks,
                      const Interested& interested) {
  if (pipe.transfers.empty()) {
    const Slice slice(q_.model, q_.job, layout_);
    for (StageClass stage : pipe.stages) {
      add_pipeline_calls(stage, slice);
      pipe.transfers.push_back(priced_transfers(stage, place.prices));
    }
  }
  pipe.assembly.emplace(pipe.stages, blocks, place.micro_batches, place.prices, pipe.times);
  pipe.assembly->time_stages(
      [&](std::size_t i) -> const std::vector<StageCall>& { return pipe.transfers[i]; });
  pipe.assembly->run_micro_batches();
  pipe.timed_by = group_;
  const auto still = [&] {
    return interested({pipe.assembly->parts().total() * kFloorRounding, pipe.least}, pipe.seekers);
  };
  // Placed slots take a thousand times as long as a closed form.
  if (layout_.schedule == Schedule::zero_bubble_v) pipe.seekers = still();
  if (pipe.seekers == 0) return;
  pipe.assembly->run_pipeline(pipe.transfers[pipe.assembly->pace()]);
  pipe.seekers = still();
  double again = 0;
  for (const StageClass& stage : pipe.stages) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      again += static_cast<double>(stage.stages * stage.counts[i]) * blocks[i].recomputed.value();
    }
  }
  pipe.recomputed = Flops(again * static_cast<double>(place.micro_batches) *
                          static_cast<double>(layout_.ranks() / layout_.pp));
}

// [PLAN-3] All blocks of a micro-batch take `whole`. Of m micro-batches the slowest of pp stages
// runs each in at least whole/pp, and waits for the others to run one, of vpp chunks for one chunk,
// unless a schedule fills the bubble; nothing is hidden that the blocks do not hide.
Seconds PlanPricer::floor_of(const Place& place, const std::vector<PricedBlock>& blocks) const {
  Seconds whole(0);
  for (const StageClass& stage : place.pipes.front().stages) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      whole += static_cast<double>(stage.stages * stage.counts[i]) * blocks[i].total();
    }
  }
  const double micro = static_cast<double>(place.micro_batches);
  const double stages = static_cast<double>(place.tuple.pp);
  const double waits =
      place.shape.fills_bubbles ? 0.0 : 1 / static_cast<double>(place.shape.most_chunks);
  const double straggled = 1 + straggling(q_.calibration.shared, layout_.ranks());
  return ((micro - waits) / stages + waits) * whole * (straggled * kFloorRounding);
}

// Under every layout of the place whose blocks compute again what those of the choice do: of full
// recomputation all do the same work, and offloading and gathers of weights only add.
PlanFloor PlanPricer::floor_of(Place& place, Recompute recompute) {
  if (place.pipes.front().stages.empty()) {
    apply(q_.space.inner(place.tuple).front(), layout_);
    make_stages(place, place.pipes.front());
  }
  apply(InnerChoice{.recompute = recompute}, layout_);
  return {floor_of(place, blocks_.floor(place.prices)), least_memory(place)};
}

PlanFloor PlanPricer::floor(const PlanCell& cell) {
  Place& place = enter(cell);
  floor_states(place);
  const Bytes least = least_memory(place);
  if (least > q_.allowed_memory()) return {Seconds(0), least};  // whatever the time
  return floor_of(place, Recompute::none);
}

// Those whose limits on all else the layouts of a cell pass.
Seekers PlanPricer::of_cell(const PlanCell& cell, const PlanSought& sought) const {
  Seekers out = 0;
  std::optional<Layout> any;
  for (std::size_t i = 0; i < sought.limits.size(); ++i) {
    const PlanLimit& limit = sought.limits[i];
    const bool open = limit.field == nullptr || is_inner(limit);
    if (!open && !any) any = q_.space.layout_at(q_.space.first_index(cell));
    if (open || limit.passes(*any)) out |= Seekers{1} << i;
  }
  return out;
}

PlanCounts PlanPricer::price(const PlanCell& cell, const PlanSought& sought, CellTimes& least) {
  PlanCounts out;
  const Seekers seekers = of_cell(cell, sought);
  if (seekers == 0) {
    out.skipped = q_.space.inner(q_.space.tuples()[cell.tuple]).size();
    return out;
  }
  Place& place = enter(cell);
  floor_states(place);
  const std::uint64_t first = q_.space.first_index(cell);
  for (const ShapeGroup& group : place.shape.groups) {
    const Recompute recompute = q_.space.inner(place.tuple)[group.begin].recompute;
    if (group.saves_anew) ++saved_;
    PlanFloor floor{};
    if (sought.worth) {
      Seconds& time = least[static_cast<std::size_t>(recompute)];
      if (time == Seconds(0)) time = floor_of(place, recompute).time;
      floor = {time, least_memory(place)};
    }
    const Seekers interested = sought.interested(floor, seekers);
    if (interested != 0) {
      out += price(place, group, first, sought, floor, interested);
    } else {
      out.skipped += group.end - group.begin;
    }
  }
  return out;
}

PlanCounts PlanPricer::price(Place& place, const ShapeGroup& group, std::uint64_t first,
                             const PlanSought& sought, const PlanFloor& floor, Seekers seekers) {
  PlanCounts out;
  ++group_;
  const auto interested = [&](const PlanFloor& least, Seekers among) {
    return sought.interested(
        {std::max(floor.time, least.time), std::max(floor.memory, least.memory)}, among);
  };
  const std::vector<InnerChoice>& inner = q_.space.inner(place.tuple);
  const Bytes allowed = q_.allowed_memory();
  // What no choice of sharding makes small enough, or good enough.
  const HeldBlocks* blocks = nullptr;
  std::size_t open = 0;
  for (const ShapeGroup::Part& part : group.parts) {
    Pipe& pipe = place.pipes[part.pipe];
    apply(inner[part.first], layout_);
    if (!enter(place, pipe)) {
      out.illegal += part.count;
      continue;
    }
    if (pipe.held_by != saved_) {
      if (blocks == nullptr) blocks = &blocks_.held(place.prices);
      pipe.least = hold(place, pipe, *blocks);
      pipe.held_by = saved_;
    }
    pipe.seekers = pipe.least > allowed ? 0 : seekers;
    if (pipe.seekers == 0) {
      out.too_large += part.count;
    } else if ((pipe.seekers = interested({Seconds(0), pipe.least}, seekers)) == 0) {
      out.skipped += part.count;
    } else {
      open += part.count;
    }
  }
  if (open == 0) return out;
  const std::vector<PricedBlock>* priced = nullptr;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const std::size_t at = place.shape.pipe[i], shard = place.shape.shard[i];
    Pipe& pipe = place.pipes[at];
    const bool timed = pipe.timed_by == group_;
    if (!pipe.legal || (!timed && pipe.seekers == 0)) continue;  // counted above
    apply(inner[i], layout_);
    if (of_layout(layout_, sought, pipe.seekers) == 0) {
      ++out.skipped;
      continue;
    }
    const std::vector<HeldStates>& held = states(place, shard, at);
    MostHeld most;
    for (std::size_t s = 0; s < pipe.stages.size(); ++s) {
      add_stage(most, pipe.stages[s].first, held[s], pipe.held[s]);
    }
    const HeldMemory memory = held_memory(most, q_.job, q_.cluster, q_.calibration);
    if (memory.live() > allowed) {
      ++out.too_large;
      continue;
    }
    if (priced == nullptr) priced = &blocks_.priced(place.prices, place.sample.weights);
    if (!timed) time(place, pipe, *priced, interested);
    const Seekers whose = of_layout(layout_, sought, pipe.seekers);
    if (whose == 0) {
      ++out.skipped;
      continue;
    }
    Assembly assembly = *pipe.assembly;
    const PricedUpdate& update = this->update(place, shard, at, assembly.pace());
    assembly.run_data_parallel(update);
    assembly.run_optimizer(update, most);
    if (memory.at_limit) assembly.run_reclaiming();
    assembly.run_rest();
    ++out.fitting;
    const StepWork work{assembly.parts().total(), model_flops_ + pipe.recomputed, layout_.ranks()};
    sought.visit({first + i, work.time, memory.live(),
                  step_energy(work, q_.job, q_.calibration.power, q_.cluster.accelerator)},
                 whose);
  }
  return out;
}

}  // namespace headway

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "forecast/energy.hpp"
#include "step/frameworks/habits.hpp"
#include "step/passes/passes.hpp"
#include "study/plan/place.hpp"

namespace headway {
namespace {

// Tuples, orders and spreads of experts of which a pricer keeps what their cells share.
constexpr std::size_t kMostPlaces = 256;

// [PLAN-3] Sequences of a micro-batch of which a longer one has no less time for each, but for the
// last wave of a product.
constexpr std::int64_t kEndlessMicroBatch = std::int64_t{1} << 16;
constexpr double kEndlessRounding = 1 - 1e-3;

}  // namespace

PlanCounts& PlanCounts::operator+=(const PlanCounts& other) {
  illegal += other.illegal;
  too_large += other.too_large;
  fitting += other.fitting;
  skipped += other.skipped;
  return *this;
}

PlanPricer::PlanPricer(const PlanQuestion& question, std::span<const PlanLimit> limits,
                       std::shared_ptr<PlanFacts> facts)
    : q_(question),
      limits_(limits.begin(), limits.end()),
      model_flops_(model_flops(q_.run.model, q_.run.job, AttentionFlops::full)),
      blocks_(q_.run, q_.calibration, std::move(facts)) {
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (!is_inner(limits_[i])) unlimited_ |= Seekers{1} << i;
  }
  for (const auto& list : q_.space.inner_lists()) shapes_.emplace_back(list, q_.run.job);
  std::size_t places = 0;
  for (const DegreeTuple& t : q_.space.tuples()) {
    first_place_.push_back(places);
    places += q_.space.orders(t).size() * q_.space.experts(t).size();
  }
  places_.resize(places);
  wanted_.resize(q_.space.tuples().size());
}

PlanPricer::~PlanPricer() = default;

const InnerWanted& PlanPricer::wanted(std::uint32_t tuple) {
  if (wanted_[tuple] == nullptr) {
    const DegreeTuple& degrees = q_.space.tuples()[tuple];
    wanted_[tuple] = std::make_unique<InnerWanted>(q_.space.inner(degrees), shapes_[degrees.inner],
                                                   q_.space.layout_of(degrees), limits_);
  }
  return *wanted_[tuple];
}

PlanPricer::Place& PlanPricer::enter(const PlanCell& cell) {
  const DegreeTuple& tuple = q_.space.tuples()[cell.tuple];
  const std::size_t at =
      first_place_[cell.tuple] + cell.order * q_.space.experts(tuple).size() + cell.expert;
  if (places_[at] == nullptr) {
    if (open_.size() >= kMostPlaces) {
      for (const std::size_t open : open_) places_[open].reset();
      open_.clear();
      place_ = nullptr;
    }
    open_.push_back(at);
    Layout bare = q_.space.layout_of(tuple);
    apply(q_.space.orders(tuple)[cell.order], bare);
    apply(q_.space.experts(tuple)[cell.expert], bare);
    apply(q_.space.splits(tuple).front(), bare);
    apply(InnerChoice{}, bare);
    const InnerShape& shape = shapes_[tuple.inner];
    // What a rank holds hangs on no order of ranks.
    const std::size_t usual = first_place_[cell.tuple] + cell.expert;
    std::shared_ptr<PlanHeld> held =
        usual != at && places_[usual] != nullptr
            ? places_[usual]->held
            : std::make_shared<PlanHeld>(q_.run.model, q_.run.job, q_.space.inner(tuple), shape,
                                         bare, blocks_.sample(bare));
    places_[at] = std::make_unique<Place>(q_, tuple, shape, wanted(cell.tuple), bare,
                                          std::move(held), layout_);
  }
  Place& place = *places_[at];
  if (place_ != &place) blocks_.go_to(place.spans);
  place_ = &place;
  apply(q_.space.micro_batches(tuple)[cell.micro_batch], place.layout);
  apply(q_.space.splits(tuple)[cell.split], place.layout);
  place.micro_batch = cell.micro_batch;
  place.micro_batches = micro_batches(q_.run.job, place.layout);
  ++place.cell;
  layout_ = place.layout;
  return place;
}

// Whether a schedule is legal in this cell: all else is by construction of the space.
bool PlanPricer::enter(const Place& place, std::size_t at, Pipe& pipe) {
  if (pipe.cell == place.cell) return pipe.legal;
  pipe.cell = place.cell;
  pipe.transfers.clear();
  std::vector<std::optional<bool>>& known = place.held->legal[at];
  known.resize(q_.space.micro_batches(place.tuple).size());
  std::optional<bool>& legal = known[place.micro_batch];
  if (!legal) legal = is_legal(q_.run, layout_);
  pipe.legal = *legal;
  pipe.rounds = rounds(place.micro_batches, place.tuple.pp, place.held->waits(at));
  return pipe.legal;
}

const PricedUpdate& PlanPricer::update(Place& place, std::size_t inner, std::size_t stage) {
  const std::size_t pipe = place.shape.pipe[inner];
  const std::size_t at = place.shape.shard[inner] * place.shape.pipes.size() + pipe;
  std::vector<Place::Update>& updates = place.updates[2 * at + (layout_.sequence_parallel ? 1 : 0)];
  const std::vector<StageClass>& stages = place.held->stages(pipe);
  if (updates.empty()) updates.resize(stages.size());
  Place::Update& out = updates[stage];
  // ZeRO 2 may reduce gradients after each micro-batch.
  const std::int64_t micro_batch = layout_.zero == 2 ? layout_.micro_batch : 0;
  if (!out.priced || out.micro_batch != micro_batch) {
    Layout layout = place.held->layout_of(q_.space.inner(place.tuple)[inner]);
    static_cast<Grid&>(layout) = layout_;
    layout.sequence_parallel = layout_.sequence_parallel;
    if (micro_batch > 0) layout.micro_batch = micro_batch;
    StageClass made = stages[stage];
    add_step_calls(made, Share(q_.run.model, q_.run.job, layout), layout, place.held->sample(),
                   place.spans);
    out.priced = priced_update(
        made, {q_.run.job, layout, q_.run.cluster, q_.calibration, place.spans, nullptr});
    out.micro_batch = micro_batch;
  }
  return *out.priced;
}

// What a rank holds besides states and activations, at least.
Bytes PlanPricer::with_context(Bytes held) const {
  return (held + q_.calibration.of(q_.run.job.framework).context) * kFloorRounding;
}

// Under the states of every choice of a part that is wanted by those seekers, by class of stages.
const std::vector<Bytes>& PlanPricer::least_states(const Place& place, const InnerPart& part,
                                                   Seekers seekers) {
  if ((seekers & unlimited_) != 0) return place.held->least(part);
  std::vector<Bytes>& out = least_states_;
  out.assign(place.held->stages(part.pipe).size(), Bytes(std::numeric_limits<double>::infinity()));
  for (const std::size_t i : part.choices) {
    if ((place.wanted.choices[i] & seekers) == 0) continue;
    const Bytes* totals = place.held->totals(place.shape.shard[i], part.pipe);
    for (std::size_t s = 0; s < out.size(); ++s) out[s] = std::min(out[s], totals[s]);
  }
  return out;
}

// What the micro-batches of a group of layouts hold.
void PlanPricer::hold(const Place& place, Pipe& pipe, const HeldBlocks& blocks) {
  pipe.held.clear();
  for (const StageClass& stage : *pipe.stages) {
    pipe.held.push_back(held_activations(blocks, stage, layout_, place.micro_batches));
  }
  pipe.held_by = saved_;
}

// The time of a group of layouts up to what their sharding decides, which adds to it or does not:
// it may be of interest to nobody any more.
void PlanPricer::time(const Place& place, Pipe& pipe, const std::vector<PricedBlock>& blocks,
                      const PlanSought& sought) {
  if (pipe.transfers.empty()) {
    const Share share(q_.run.model, q_.run.job, layout_);
    for (StageClass stage : *pipe.stages) {
      add_pipeline_calls(stage, share, layout_);
      overlap(stage, q_.run.job, layout_);
      pipe.transfers.push_back(priced_transfers(stage, place.prices));
    }
  }
  pipe.assembly.emplace(*pipe.stages, blocks, place.micro_batches, place.prices, pipe.times);
  pipe.assembly->time_stages(
      [&](std::size_t i) -> const std::vector<StageCall>& { return pipe.transfers[i]; });
  pipe.assembly->run_micro_batches();
  pipe.timed_by = group_;
  const auto still = [&](Seconds besides) {
    const Seconds time =
        (pipe.assembly->parts().total() + besides) * (q_.calibration.own * kFloorRounding);
    return sought.interested({std::max(pipe.floor.time, time), pipe.floor.memory}, pipe.seekers);
  };
  if (pipe.assembly->places()) pipe.seekers = still(pipe.assembly->least_bubble());
  if (pipe.seekers == 0) return;
  pipe.assembly->run_pipeline(pipe.transfers[pipe.assembly->pace()]);
  pipe.seekers = still(Seconds(0));
  double again = 0;
  for (const StageClass& stage : *pipe.stages) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      again += static_cast<double>(stage.stages * stage.counts[i]) * stage.share *
               blocks[i].recomputed.value();
    }
  }
  pipe.recomputed = Flops(again * static_cast<double>(place.micro_batches) *
                          static_cast<double>(layout_.ranks() / layout_.pp));
}

// All blocks of the model for one micro-batch.
PlanPricer::WholeModel PlanPricer::whole_model(const Place& place,
                                               const std::vector<Seconds>& blocks) const {
  WholeModel out{Seconds(0), Seconds(0)};
  for (const StageClass& stage : place.held->stages(0)) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const double number = static_cast<double>(stage.stages * stage.counts[i]) * stage.share;
      out.time += number * blocks[i];
      const bool parts = place.held->sample().blocks[i].kind == BlockKind::vocabulary;
      if (parts) out.together += number * blocks[i];
    }
  }
  return out;
}

// [PLAN-3] However the blocks are spread over the stages; nothing is hidden that they do not hide.
Seconds PlanPricer::floor_of(const Place& place, const WholeModel& whole) const {
  const double straggled =
      (1 + straggling(q_.calibration.shared, q_.run.job, layout_)) * q_.calibration.own;
  if (place.tuple.split_vocabulary) {
    const double m = static_cast<double>(place.micro_batches);
    return (m / static_cast<double>(place.tuple.pp) * whole.time +
            place.held->waits() * (whole.time - whole.together)) *
           (straggled * kFloorRounding);
  }
  return rounds(place.micro_batches, place.tuple.pp, place.held->waits()) * whole.time *
         (straggled * kFloorRounding);
}

// Under every layout of the place whose blocks compute again what those of the choice do: of full
// recomputation all do the same work, and offloading and gathers of weights only add.
Seconds PlanPricer::floor_of(Place& place, Recompute recompute) {
  apply(place.shape.cheapest(recompute), layout_);
  return floor_of(place, whole_model(place, blocks_.floor(layout_)));
}

// All micro-batches at once: of a longer one a sequence takes no more time, and as much memory.
const PlanPricer::Sequence& PlanPricer::sequence(Place& place, std::uint32_t split) {
  place.sequences.resize(q_.space.splits(place.tuple).size());
  std::optional<Sequence>& out = place.sequences[split];
  if (out) return *out;
  apply(place.shape.cheapest(Recompute::none), layout_);
  layout_.micro_batch = kEndlessMicroBatch;
  const double share = kEndlessRounding / static_cast<double>(kEndlessMicroBatch);
  const WholeModel whole = whole_model(place, blocks_.floor(layout_));
  const Bytes held = place.held->least_activations(blocks_.held(layout_));
  out = {{whole.time * share, whole.together * share}, held * share};
  return *out;
}

PlanFloor PlanPricer::quick_floor(const PlanCell& cell) {
  Place& place = enter(cell);
  const auto number = static_cast<double>(layout_.micro_batch);
  const auto& [whole, activations] = sequence(place, cell.split);
  return {floor_of(place, {whole.time * number, whole.together * number}),
          with_context(place.held->least() + number * activations)};
}

Seconds PlanPricer::floor(const PlanCell& cell) {
  return floor_of(enter(cell), Recompute::none);
}

// Those whose limits on all else the layouts of a cell pass.
Seekers PlanPricer::of_cell(const PlanCell& cell) const {
  Seekers out = 0;
  std::optional<Layout> any;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const PlanLimit& limit = limits_[i];
    const bool open = limit.field == nullptr || is_inner(limit);
    if (!open && !any) any = q_.space.layout_at(q_.space.first_index(cell));
    if (open || limit.passes(*any)) out |= Seekers{1} << i;
  }
  return out;
}

PlanCounts PlanPricer::price(const PlanCell& cell, const PlanSought& sought, CellTimes& least) {
  PlanCounts out;
  const Seekers seekers = of_cell(cell);
  if (seekers == 0) {
    out.skipped = q_.space.inner(q_.space.tuples()[cell.tuple]).size();
    return out;
  }
  Place& place = enter(cell);
  if (place.pipes.empty()) place.open();
  const Bytes least_memory = with_context(place.held->least());
  const std::uint64_t first = q_.space.first_index(cell);
  std::array<std::optional<Seekers>, kRecomputeNames.size()> by_mode;
  for (std::size_t i = 0; i < place.shape.groups.size(); ++i) {
    const InnerGroup& group = place.shape.groups[i];
    const auto recompute =
        static_cast<std::size_t>(q_.space.inner(place.tuple)[group.begin].recompute);
    if (group.saves_anew) ++saved_;
    // Whatever is computed again only adds.
    const PlanFloor floor{least[recompute] > Seconds(0) ? least[recompute] : least.front(),
                          least_memory};
    std::optional<Seekers>& of_mode = by_mode[recompute];
    if (!of_mode) of_mode = sought.interested(floor, seekers);
    const Seekers interested = *of_mode & place.wanted.groups[i];
    if (interested != 0) {
      out += price(place, group, first, sought, floor, interested, least[recompute]);
      if (least[recompute] != floor.time) of_mode.reset();  // it is known better now
    } else {
      out.skipped += group.end - group.begin;
    }
  }
  return out;
}

// Opens the pipes of a group's parts whose layouts may fit and be of interest: whether there are
// any.
bool PlanPricer::open(Place& place, const InnerGroup& group, const PlanSought& sought,
                      const PlanFloor& floor, Seekers seekers, PlanCounts& counts) {
  const std::vector<InnerChoice>& inner = q_.space.inner(place.tuple);
  const Bytes allowed = q_.allowed_memory();
  const double usual = rounds(place.micro_batches, place.tuple.pp, place.held->waits());
  const HeldBlocks* blocks = nullptr;
  bool out = false;
  for (const InnerPart& part : group.parts) {
    Pipe& pipe = place.pipes[part.pipe];
    apply(inner[part.choices.front()], layout_);
    const bool legal = enter(place, part.pipe, pipe);
    pipe.seekers = legal ? seekers & place.wanted.parts[part.number] : 0;
    // What stages run at the same time is waited for by none.
    const double waits = place.tuple.split_vocabulary ? 1 : pipe.rounds / usual;
    pipe.floor = {floor.time * (waits * kFloorRounding), floor.memory};
    // Whether states and what else stages hold leave some layout.
    const auto may_be = [&](const auto& activations) {
      const std::vector<Bytes>& states = least_states(place, part, pipe.seekers);
      Bytes most(0);
      for (std::size_t s = 0; s < states.size(); ++s) {
        most = std::max(most, states[s] + activations(s));
      }
      pipe.floor.memory = std::max(floor.memory, with_context(most));
      if (pipe.floor.memory > allowed) return false;
      pipe.seekers = sought.interested(pipe.floor, pipe.seekers);
      return pipe.seekers != 0;
    };
    // What states alone leave out needs no blocks.
    bool opens = pipe.seekers != 0 && may_be([](std::size_t) { return Bytes(0); });
    if (opens) {
      if (pipe.held_by != saved_) {
        if (blocks == nullptr) blocks = &blocks_.held(layout_);
        hold(place, pipe, *blocks);
      }
      opens = may_be([&](std::size_t s) { return pipe.held[s].activations; });
    }
    if (opens) {
      out = true;
      continue;
    }
    std::uint64_t& reason =
        !legal ? counts.illegal : (pipe.seekers != 0 ? counts.too_large : counts.skipped);
    reason += part.choices.size();
    pipe.seekers = 0;
  }
  return out;
}

PlanCounts PlanPricer::price(Place& place, const InnerGroup& group, std::uint64_t first,
                             const PlanSought& sought, PlanFloor floor, Seekers seekers,
                             Seconds& least) {
  PlanCounts out;
  ++group_;
  if (!open(place, group, sought, floor, seekers, out)) return out;
  // What memory leaves is worth the least time of the choice.
  if (sought.worth && least == Seconds(0)) {
    least = floor_of(place, q_.space.inner(place.tuple)[group.begin].recompute);
    floor.time = least;
    out = {};
    if (!open(place, group, sought, floor, seekers, out)) return out;
  }
  const std::vector<InnerChoice>& inner = q_.space.inner(place.tuple);
  const std::vector<PricedBlock>* priced = nullptr;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const std::size_t at = place.shape.pipe[i], shard = place.shape.shard[i];
    Pipe& pipe = place.pipes[at];
    const bool timed = pipe.timed_by == group_;
    if (!pipe.legal || (!timed && pipe.seekers == 0)) continue;  // counted above
    if ((place.wanted.choices[i] & pipe.seekers) == 0) {
      ++out.skipped;
      continue;
    }
    apply(inner[i], layout_);
    const HeldStates* held = place.held->states(shard, at);
    MostHeld most;
    for (std::size_t s = 0; s < pipe.stages->size(); ++s) {
      add_stage(most, (*pipe.stages)[s].first, held[s], pipe.held[s]);
    }
    const HeldMemory memory = held_memory(most, q_.run.job, q_.run.cluster, q_.calibration);
    if (memory.live() > q_.allowed_memory()) {
      ++out.too_large;
      continue;
    }
    if (priced == nullptr) priced = &blocks_.priced(layout_);
    if (!timed) time(place, pipe, *priced, sought);
    const Seekers whose = place.wanted.choices[i] & pipe.seekers;
    if (whose == 0) {
      ++out.skipped;
      continue;
    }
    Assembly assembly = *pipe.assembly;
    const PricedUpdate& update = this->update(place, i, assembly.pace());
    assembly.run_data_parallel(update);
    assembly.run_optimizer(update_time(update, most, place.prices));
    if (memory.at_limit) assembly.run_reclaiming();
    assembly.run_beside_steps(update);
    assembly.run_rest();
    ++out.fitting;
    const StepWork work{assembly.parts().total(), model_flops_ + pipe.recomputed, layout_.ranks()};
    sought.visit({first + i, work.time, memory.live(),
                  step_energy(work, q_.run.job, q_.calibration, q_.run.cluster.accelerator)},
                 whose);
  }
  return out;
}

}  // namespace headway

#include "simulate/ranks/placing.hpp"

#include <algorithm>

namespace headway {
namespace {

// Time that both spans have in common.
Seconds in_both(Seconds begin, Seconds end, Seconds from, Seconds to) {
  return std::max(Seconds(0), std::min(end, to) - std::max(begin, from));
}

// Whether all lanes run a slot at its usual pace, from the same time on.
bool are_alike(const std::vector<TaskPace>& at, const Times& begin) {
  return std::all_of(at.begin(), at.end(), [](const TaskPace& pace) { return pace.is_usual(); }) &&
         std::all_of(begin.begin(), begin.end(), [&](Seconds each) { return each == begin[0]; });
}

}  // namespace

void add_spans(std::size_t stage, const CellSpan& like, const Times& begin, const Times& end,
               std::vector<CellSpan>& out) {
  for (std::size_t l = 0; l < begin.size(); ++l) {
    if (!(end[l] > begin[l])) continue;
    CellSpan& span = out.emplace_back(like);
    span.stage = static_cast<std::int64_t>(stage);
    span.lane = static_cast<std::int64_t>(l);
    span.begin = begin[l];
    span.end = end[l];
  }
}

Placer::Placer(const RanksWork& work, Cells& cells, RankedDetail detail, RankedStep& out)
    : work_(work),
      cells_(cells),
      calls_(work, cells),
      detail_{detail.pipelines && work.can_be_replayed, detail.spans},
      out_(out),
      pipeline_(work.usual.pipeline),
      lanes_(cells.lanes()),
      micro_batches_(pipeline_.micro_batches_of_copy()),
      chunks_(pipeline_.chunks()),
      stages_(work.usual.ranks.size()) {
  out_.stages = static_cast<std::int64_t>(stages_.size());
  out_.lanes = static_cast<std::int64_t>(lanes_);
  out_.cells.resize(stages_.size() * lanes_);
  slot_ = {Times(lanes_), Times(lanes_), std::vector<Parts>(lanes_)};
  if (detail_.pipelines) {
    for (std::size_t l = 0; l < lanes_; ++l) {
      out_.pipelines.push_back(
          {0, static_cast<std::int64_t>(l),
           std::vector<OpTime>(stages_.size() * static_cast<std::size_t>(micro_batches_))});
    }
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    stage.slots = unrolled(rank_order(pipeline_, static_cast<std::int64_t>(s)));
    stage.counts.resize(static_cast<std::size_t>(chunks_));
    for (Arrivals* each : {&stage.activations, &stage.gradients}) {
      each->there.resize(place_of(chunks_, 0));
      each->when.resize(each->there.size() * lanes_);
    }
    for (Times* each : {&stage.free, &stage.reduced, &stage.links[0], &stage.links[1]}) {
      each->assign(lanes_, Seconds(0));
    }
    begin_stage(s);
  }
}

void Placer::run() {
  bool runs = true;
  while (runs) {
    runs = false;
    for (std::size_t s = 0; s < stages_.size(); ++s) runs |= run_stage(s);
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) end_stage(s);
}

std::vector<Times> Placer::take_free() {
  std::vector<Times> out;
  for (Stage& stage : stages_) out.push_back(std::move(stage.free));
  return out;
}

// Weights that are gathered under the first forward pass travel from the beginning on; the first
// ones of those in shards come before it.
void Placer::begin_stage(std::size_t s) {
  Stage& stage = stages_[s];
  stage.gathers.resize(lanes_);
  Times at(lanes_, Seconds(0));
  for (std::size_t i = 0; i < once(s).under_forward.size(); ++i) {
    const BesideCalls& calls = once(s).under_forward[i];
    for (std::int64_t j = 0; j < calls.count; ++j) {
      Times begin = at;
      calls_.run(calls.group, s, calls.each, slow(s).under_forward[i].each, at);
      tell_beside(s, calls, begin, at);
      for (std::size_t l = 0; l < lanes_; ++l) stage.gathers[l].push_back({begin[l], at[l]});
    }
  }
  if (!(once(s).first_gather > Seconds(0))) return;
  const Times begin = stage.free;
  calls_.run(Group::dp, s, once(s).first_gather, slow(s).first_gather, stage.free);
  tell(s, {.stream = stream_of(Group::dp), .name = "dp all_gather"}, begin, stage.free);
  for (std::size_t l = 0; l < lanes_; ++l) parts(s, l).dp += stage.free[l];
}

bool Placer::run_stage(std::size_t s) {
  Stage& stage = stages_[s];
  bool runs = false;
  for (; stage.at < stage.slots.size(); ++stage.at) {
    const Slot& slot = stage.slots[stage.at];
    const std::int64_t micro_batch = next_of(stage, slot);
    if (micro_batch >= micro_batches_) continue;  // absent
    const Arrivals* needed = needs(s, slot);
    if (needed != nullptr && !needed->there[place_of(slot.chunk, micro_batch)]) return runs;
    place(s, slot, micro_batch, needed);
    runs = true;
  }
  return runs;
}

std::int64_t& Placer::next_of(Stage& stage, const Slot& slot) {
  Counts& counts = stage.counts[slot.chunk];
  return slot.work == SlotWork::forward           ? counts.forward
         : slot.work == SlotWork::weight_gradient ? counts.weight
                                                  : counts.input;
}

const Placer::Arrivals* Placer::needs(std::size_t s, const Slot& slot) const {
  if (slot.work == SlotWork::weight_gradient) return nullptr;
  if (slot.work != SlotWork::forward) return &stages_[s].gradients;
  const bool first = pipeline_.stage(static_cast<std::int64_t>(s), slot.chunk) == 0;
  return first ? nullptr : &stages_[s].activations;
}

void Placer::place(std::size_t s, const Slot& slot, std::int64_t micro_batch,
                   const Arrivals* needed) {
  Stage& stage = stages_[s];
  ++next_of(stage, slot);
  if (slot.work == SlotWork::backward) ++stage.counts[slot.chunk].weight;
  slot_.begin = stage.free;
  if (needed != nullptr) {
    const std::size_t from = place_of(slot.chunk, micro_batch) * lanes_;
    for (std::size_t l = 0; l < lanes_; ++l) {
      slot_.begin[l] = std::max(slot_.begin[l], needed->when[from + l]);
    }
  }
  run_slot(s, slot, micro_batch, slot_);
  if (detail_.spans) tell_slot(s, slot, micro_batch);
  if (detail_.pipelines) {
    const std::size_t at =
        s * static_cast<std::size_t>(micro_batches_) + static_cast<std::size_t>(micro_batch);
    for (std::size_t l = 0; l < lanes_; ++l) {
      OpTime& op = out_.pipelines[l].ops[at];
      (slot.work == SlotWork::forward ? op.forward : op.backward) =
          slot_.parts[l].total();  // not what it waits within
    }
  }
  for (std::size_t l = 0; l < lanes_; ++l) {
    for (const PartRow& row : kParts) parts(s, l)[row.part] += slot_.parts[l][row.part];
  }
  stage.free = slot_.end;
  hand_on(s, slot, micro_batch, slot_.end);
  const std::int64_t number = stage.placed++;
  const Times begin = detail_.spans ? stage.free : Times();
  for (std::size_t l = 0; l < lanes_; ++l) {
    const Seconds pause = cells_.pause(s, l, number);
    stage.free[l] += pause;
    parts(s, l).other += pause;
  }
  if (detail_.spans) tell(s, {.stream = kHost, .name = "pause"}, begin, stage.free);
}

void Placer::tell(std::size_t s, const CellSpan& like, const Times& begin, const Times& end) {
  if (detail_.spans) add_spans(s, like, begin, end, out_.spans);
}

void Placer::tell_beside(std::size_t s, const BesideCalls& calls, const Times& begin,
                         const Times& end) {
  tell(s, {.stream = stream_of(calls.group), .name = calls.name, .beside = true}, begin, end);
}

void Placer::tell_slot(std::size_t s, const Slot& slot, std::int64_t micro_batch) {
  const auto& program =
      work_.usual.ranks[s].chunks[slot.chunk][static_cast<std::size_t>(slot.work)];
  add_spans(s, {.program = program, .slot = slot, .micro_batch = micro_batch}, slot_.begin,
            slot_.end, out_.spans);
}

void Placer::run_slot(std::size_t s, const Slot& slot, std::int64_t micro_batch, Placed& out) {
  const auto which = static_cast<std::size_t>(slot.work);
  const SlotProgram& usual = *work_.usual.ranks[s].chunks[slot.chunk][which];
  const SlotProgram& slow_links = *work_.slow.ranks[s].chunks[slot.chunk][which];
  const LaneSets& joined = joined_in(usual);
  const std::vector<bool> is_slow = joined.any(cells_.slow_links(s));
  const std::vector<bool> flaps = joined.any(cells_.flapping(s));
  const std::int64_t copy = pipeline_.copies() == 2 ? slot.chunk : 0;
  std::vector<SlotPace*> paces;
  std::vector<TaskPace> at(lanes_);
  for (std::size_t l = 0; l < lanes_; ++l) {
    SlotPace& pace = *paces.emplace_back(&pace_of(is_slow[l] ? slow_links : usual));
    at[l].attention = cells_.attention(l, micro_batch, copy);
    const Seconds kernels = pace.kernels() + pace.attention() * (at[l].attention - 1);
    at[l].kernels = cells_.kernels(s, l, stages_[s].placed, kernels);
    if (!flaps[l] || work_.over_network == 0) continue;
    at[l].outages = &cells_.outages();
    at[l].over_network = work_.over_network;
  }
  if (joined.are_alone() || are_alike(at, out.begin)) {
    for (std::size_t l = 0; l < lanes_; ++l) {
      at[l].begin = out.begin[l];
      out.parts[l] = paces[l]->at(at[l]).parts;
      out.end[l] = out.begin[l] + out.parts[l].total();
    }
    joined.meet(out.end);
  } else if (at.front().outages != nullptr) {  // what is down hangs on the clock
    joined.meet(out.begin);
    for (std::size_t l = 0; l < lanes_; ++l) {
      at[l].begin = out.begin[l];
      out.parts[l] = paces[l]->at(at[l]).parts;
      out.end[l] = out.begin[l] + out.parts[l].total();
    }
    joined.meet(out.end);
  } else {
    run_joined(paces, at, out);
  }
  if (slot.work != SlotWork::weight_gradient) {
    for (std::size_t l = 0; l < lanes_; ++l) {
      const Parts& more = is_slow[l] ? slow(s).of_slot : once(s).of_slot;
      for (const PartRow& row : kParts) out.parts[l][row.part] += more[row.part];
      out.end[l] += more.total();
    }
  }
  if (slot.work == SlotWork::forward && micro_batch == 0) wait_for_gathers(stages_[s], out);
  const bool reduces = slot.work == SlotWork::backward || slot.work == SlotWork::weight_gradient;
  if (reduces && micro_batch == micro_batches_ - 1) add_reductions(s, out);
}

// [SIM-30] Calls within a slot that join lanes begin when the last of them is there. Where a part
// of the slot is no chain, its lanes begin and end it together: what runs beside such calls is then
// not told apart.
void Placer::run_joined(const std::vector<SlotPace*>& paces, const std::vector<TaskPace>& at,
                        Placed& out) const {
  out.end = out.begin;
  std::fill(out.parts.begin(), out.parts.end(), Parts{});
  const std::size_t sections = paces.front()->order().size();
  for (std::size_t i = 0; i < sections; ++i) {
    const LaneSets sets = joined_in(paces.front()->section(i).list);
    const bool chain = std::all_of(paces.begin(), paces.end(),
                                   [&](SlotPace* pace) { return pace->section(i).is_chain; });
    if (!sets.are_alone() && chain) {
      run_chain(paces, at, i, out);
      continue;
    }
    sets.meet(out.end);
    for (std::size_t l = 0; l < lanes_; ++l) {
      const PacedSlot paced = paces[l]->at(paces[l]->section(i), at[l]);
      for (const PartRow& row : kParts) out.parts[l][row.part] += paced.parts[row.part];
      out.end[l] += paced.time;
    }
    sets.meet(out.end);
  }
}

void Placer::run_chain(const std::vector<SlotPace*>& paces, const std::vector<TaskPace>& at,
                       std::size_t section, Placed& out) const {
  const std::size_t tasks = paces.front()->section(section).list.tasks().size();
  for (std::size_t t = 0; t < tasks; ++t) {
    const StreamTask& first = paces.front()->section(section).list.tasks()[t];
    if (is_of_calls(first.stream) && first.work > Seconds(0)) {
      calls_.lanes_of(kGroups[first.stream - std::size_t{2}].group).meet(out.end);
    }
    for (std::size_t l = 0; l < lanes_; ++l) {
      const StreamTask& task = paces[l]->section(section).list.tasks()[t];
      const double pace =
          task.stream == kKernels ? at[l].kernels * (task.attends ? at[l].attention : 1.0) : 1.0;
      out.parts[l][task.part] += task.work * pace;
      out.end[l] += task.work * pace;
    }
  }
}

// [FORECAST-5] Each part of the slot waits for its share of the weights.
void Placer::wait_for_gathers(Stage& stage, Placed& slot) const {
  const auto count = static_cast<std::int64_t>(stage.gathers.front().size());
  const std::int64_t from = count * stage.first / chunks_, to = count * (stage.first + 1) / chunks_;
  ++stage.first;
  if (from == to) return;
  for (std::size_t l = 0; l < lanes_; ++l) {
    const Seconds begin = slot.begin[l];
    const Seconds each = (slot.end[l] - begin) / static_cast<double>(to - from);
    Seconds at = begin;
    for (std::int64_t i = from; i < to; ++i) {
      at = std::max(at, stage.gathers[l][static_cast<std::size_t>(i)].end) + each;
    }
    const Seconds waited = at - slot.end[l];
    Seconds beside(0);
    for (const Transit& piece : stage.gathers[l]) {
      beside += in_both(piece.begin, piece.end, begin, at);
    }
    const Seconds slower = std::max(Seconds(0), beside - waited) * work_.usual.rules.interference;
    slot.parts[l].dp += waited;
    slot.parts[l].compute += slower;
    slot.end[l] = at + slower;
  }
}

// [FORECAST-5] Buckets of gradients, ready one after another; each is reduced once the last of its
// replicas has it.
void Placer::add_reductions(std::size_t s, Placed& slot) {
  Stage& stage = stages_[s];
  const std::int64_t at = stage.late++;
  struct Bucket {
    std::size_t calls;
    double ready;  // share of the slot
  };
  std::vector<Bucket> buckets;
  const auto& under = once(s).under_backward;
  for (std::size_t i = 0; i < under.size(); ++i) {
    const std::int64_t from = under[i].count * at / chunks_,
                       to = under[i].count * (at + 1) / chunks_;
    for (std::int64_t j = from; j < to; ++j) {
      buckets.push_back({i, static_cast<double>(j + 1 - from) / static_cast<double>(to - from)});
    }
  }
  std::stable_sort(buckets.begin(), buckets.end(),
                   [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
  Times longer(lanes_), done, begin(lanes_), beside(lanes_);
  const auto pass = [&](bool last) {
    done = stage.reduced;
    for (const Bucket& bucket : buckets) {
      const BesideCalls& calls = under[bucket.calls];
      for (std::size_t l = 0; l < lanes_; ++l) {
        const Seconds time = slot.end[l] - slot.begin[l] + longer[l];
        done[l] = std::max(done[l], slot.begin[l] + time * bucket.ready);
      }
      begin = done;
      calls_.lanes_of(calls.group).meet(begin);
      calls_.run(calls.group, s, calls.each, slow(s).under_backward[bucket.calls].each, done);
      if (last) tell_beside(s, calls, begin, done);
      for (std::size_t l = 0; l < lanes_; ++l) {
        beside[l] += in_both(begin[l], done[l], slot.begin[l], slot.end[l]);
      }
    }
  };
  pass(false);
  for (std::size_t l = 0; l < lanes_; ++l) longer[l] = beside[l] * work_.usual.rules.interference;
  pass(true);
  stage.reduced = done;
  for (std::size_t l = 0; l < lanes_; ++l) {
    slot.parts[l].compute += longer[l];
    slot.end[l] += longer[l];
  }
}

void Placer::hand_on(std::size_t s, const Slot& slot, std::int64_t micro_batch, const Times& ends) {
  const auto made = handoff(pipeline_, static_cast<std::int64_t>(s), slot);
  if (!made) return;
  const bool forward = slot.work == SlotWork::forward;
  const auto other = static_cast<std::size_t>(made->to.rank);
  Arrivals& arrivals = made->is_gradient ? stages_[other].gradients : stages_[other].activations;
  const std::size_t at = place_of(made->to.chunk, micro_batch);
  arrivals.there[at] = true;
  const auto arrive = [&](const Times& when) {
    std::copy(when.begin(), when.end(),
              arrivals.when.begin() + static_cast<std::ptrdiff_t>(at * lanes_));
  };
  if (other == s || !(once(s).send > Seconds(0))) return arrive(ends);
  // One transfer after another in a direction.
  Times& link = stages_[s].links[forward ? 0 : 1];
  for (std::size_t l = 0; l < lanes_; ++l) link[l] = std::max(link[l], ends[l]);
  const Times begin = link;
  calls_.send(s, other, link);
  arrive(link);
  tell(s,
       {.stream = stream_of(Group::pp),
        .name = forward ? "send to next stage" : "send to stage before",
        .beside = !work_.usual.rules.blocking},
       begin, link);
  if (!work_.usual.rules.blocking) return;
  for (std::size_t l = 0; l < lanes_; ++l) parts(s, l).pp += link[l] - begin[l];
  stages_[s].free = link;
}

// What is left to reduce behind the last slot.
void Placer::end_stage(std::size_t s) {
  Stage& stage = stages_[s];
  if (once(s).last_reduce > Seconds(0)) {
    Times begin = stage.free;
    calls_.lanes_of(Group::dp).meet(begin);
    calls_.run(Group::dp, s, once(s).last_reduce, slow(s).last_reduce, stage.free);
    tell(s, {.stream = stream_of(Group::dp), .name = "dp reduce_scatter"}, begin, stage.free);
    for (std::size_t l = 0; l < lanes_; ++l) parts(s, l).dp += stage.free[l] - begin[l];
  }
  tell(s, {.name = "wait for gradients"}, stage.free, stage.reduced);
  for (std::size_t l = 0; l < lanes_; ++l) {
    const Seconds waits = stage.reduced[l] - stage.free[l];
    if (!(waits > Seconds(0))) continue;
    parts(s, l).dp += waits;
    stage.free[l] = stage.reduced[l];
  }
}

const LaneSets& Placer::joined_in(const SlotProgram& program) {
  const auto known = joined_.find(&program);
  if (known != joined_.end()) return known->second;
  return joined_.emplace(&program, joined_in(program.list)).first->second;
}

// Calls join the lanes that take part in them.
LaneSets Placer::joined_in(const TaskList& list) const {
  LaneSets out(lanes_);
  const auto tasks = list.tasks();
  for (const GroupRow& row : kGroups) {
    const LaneSets& sets = calls_.lanes_of(row.group);
    if (sets.are_alone()) continue;
    const bool has = std::any_of(tasks.begin(), tasks.end(), [&](const StreamTask& task) {
      return task.stream == stream_of(row.group) && task.work > Seconds(0);
    });
    if (has) out.join(sets);
  }
  return out;
}

SlotPace& Placer::pace_of(const SlotProgram& program) {
  const auto known = paces_.find(&program);
  if (known != paces_.end()) return known->second;
  return paces_.emplace(&program, SlotPace(program, work_.usual.rules.interference)).first->second;
}

}  // namespace headway

#include "forecast/schedule/walk.hpp"

#include <algorithm>

namespace headway {
namespace {

bool is_forward(SlotWork work) {
  return work == SlotWork::forward;
}

// Slots of a chunk's forward passes (or of its gradients of inputs) before an order's steady run,
// and in one round of it.
struct Counted {
  std::int64_t before = 0, in_round = 0;
};
Counted counted(const RankOrder& order, std::size_t steady, bool forward, std::int64_t chunk) {
  const auto slots_of = [&](const SlotRun& run) {
    return std::count_if(order.slots.begin() + static_cast<std::ptrdiff_t>(run.begin),
                         order.slots.begin() + static_cast<std::ptrdiff_t>(run.end),
                         [&](const Slot& slot) {
                           return slot.chunk == chunk && slot.work != SlotWork::weight_gradient &&
                                  is_forward(slot.work) == forward;
                         });
  };
  Counted out;
  for (std::size_t i = 0; i < steady; ++i) {
    out.before += order.runs[i].times * slots_of(order.runs[i]);
  }
  out.in_round = slots_of(order.runs[steady]);
  return out;
}

}  // namespace

Orders::Orders(const Pipeline& pipeline) {
  rounds = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t r = 0; r < pipeline.ranks; ++r) {
    of_rank.push_back(rank_order(pipeline, r));
    const std::vector<SlotRun>& runs = of_rank.back().runs;
    const auto at =
        std::find_if(runs.begin(), runs.end(), [](const SlotRun& x) { return x.steady; });
    steady.push_back(static_cast<std::size_t>(at - runs.begin()));
    rounds = std::min(rounds, at == runs.end() ? 0 : at->times);
  }
  if (rounds == 0) return;
  // A slot needs what the stage before it, or behind it, has done with the same micro-batch.
  for (std::int64_t r = 0; r < pipeline.ranks; ++r) {
    for (std::int64_t chunk = 0; chunk < pipeline.chunks(); ++chunk) {
      const std::int64_t stage = pipeline.stage(r, chunk);
      const std::int64_t copy = pipeline.copies() == 2 ? chunk : 0;
      const auto counts = [&](const ChunkOfRank& of, bool forward) {
        const auto rank = static_cast<std::size_t>(of.rank);
        return counted(of_rank[rank], steady[rank], forward, of.chunk);
      };
      const auto reaches = [&](const Counted& from, const Counted& needed) {
        const std::int64_t apart = std::abs(from.before - needed.before);
        reach = std::max(reach, (apart + from.in_round - 1) / from.in_round);
      };
      const Counted forward = counts({r, chunk}, true), backward = counts({r, chunk}, false);
      if (stage > 0) reaches(forward, counts(holder(pipeline, copy, stage - 1), true));
      reaches(backward, stage + 1 < pipeline.stages()
                            ? counts(holder(pipeline, copy, stage + 1), false)
                            : forward);
    }
  }
  reach += 1;  // within a round, the rank's own order
}

std::size_t Orders::round(std::size_t rank) const {
  const SlotRun& run = of_rank[rank].runs[steady[rank]];
  return run.end - run.begin;
}

Walk::Walk(const Pipeline& pipeline, const SlotTimes& times, const Orders& orders,
           std::vector<PlacedSlot>* slots)
    : orders_(orders),
      micro_batches_(pipeline.micro_batches_of_copy()),
      blocking_(times.blocking),
      joined_(times.joined),
      chunks_of_rank_(static_cast<std::size_t>(pipeline.chunks())),
      chunks_(times.chunks.size()),
      ranks_(static_cast<std::size_t>(pipeline.ranks)),
      slots_(slots) {
  make_chunks(pipeline, times);
}

void Walk::make_chunks(const Pipeline& pipeline, const SlotTimes& times) {
  const auto each = static_cast<std::size_t>(micro_batches_);
  arrivals_ = std::make_unique_for_overwrite<double[]>(2 * chunks_.size() * each);
  const auto at = [&](const ChunkOfRank& of) -> Chunk& {
    return chunks_[static_cast<std::size_t>(of.rank) * chunks_of_rank_ +
                   static_cast<std::size_t>(of.chunk)];
  };
  double* free = arrivals_.get();
  for (std::int64_t r = 0; r < pipeline.ranks; ++r) {
    for (std::int64_t c = 0; c < pipeline.chunks(); ++c) {
      const std::int64_t stage = pipeline.stage(r, c), copy = pipeline.copies() == 2 ? c : 0;
      const auto neighbour = [&](std::int64_t other, Inbox Chunk::*inbox) {
        const ChunkOfRank of = holder(pipeline, copy, other);
        return Neighbour{&(at(of).*inbox), static_cast<std::size_t>(of.rank),
                         of.rank == r ? 0.0 : times.send.value()};
      };
      Chunk& chunk = at({r, c});
      const ChunkTime& time = times.chunks[static_cast<std::size_t>(&chunk - chunks_.data())];
      chunk.forward = time.forward.value();
      chunk.backward = time.backward.value();
      chunk.input = (time.backward - time.weight_gradient).value();
      chunk.weight = time.weight_gradient.value();
      chunk.is_first = stage == 0;
      for (Inbox* inbox : {&chunk.activations, &chunk.gradients}) {
        inbox->when = free;
        free += each;
      }
      if (stage > 0) chunk.previous = neighbour(stage - 1, &Chunk::gradients);
      chunk.next = stage + 1 < pipeline.stages()
                       ? neighbour(stage + 1, &Chunk::activations)
                       : neighbour(stage, &Chunk::gradients);  // the loss: the way back begins
    }
  }
}

void Walk::run_rounds(std::int64_t rounds) {
  limit_ = rounds;
  run_all();
}

void Walk::run_rest(std::int64_t left_out) {
  limit_ = std::numeric_limits<std::int64_t>::max();
  left_out_ = left_out;
  keeps_ends_ = false;
  run_all();
}

std::int64_t Walk::rounds_of_all() const {
  std::int64_t out = limit_;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    out = std::min(out, static_cast<std::int64_t>(ranks_[r].steady_ends.size() / orders_.round(r)));
  }
  return out;
}

std::int64_t Walk::rounds_of_any() const {
  std::int64_t out = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const std::size_t round = orders_.round(r);
    const std::size_t begun = (ranks_[r].steady_ends.size() + round - 1) / round;
    out = std::max(out, static_cast<std::int64_t>(begun));
  }
  return out;
}

std::vector<RankSpan> Walk::spans() const {
  std::vector<RankSpan> out;
  for (const Rank& rank : ranks_) out.push_back({Seconds(rank.begin), Seconds(rank.free)});
  return out;
}

// A rank runs until it waits; who gives it what it waits for lets it run again.
void Walk::run_all() {
  for (std::size_t r = ranks_.size(); r-- > 0;) runnable_.push_back(r);
  while (!runnable_.empty()) {
    const std::size_t rank = runnable_.back();
    runnable_.pop_back();
    run(rank);
  }
}

void Walk::run(std::size_t r) {
  Rank& rank = ranks_[r];
  rank.waits = false;
  const RankOrder& order = orders_.of_rank[r];
  for (; rank.run < order.runs.size(); ++rank.run, rank.time = 0) {
    const SlotRun& run = order.runs[rank.run];
    const bool steady = rank.run == orders_.steady[r];
    const std::int64_t times = run.times - (steady ? left_out_ : 0);
    for (; rank.time < times; ++rank.time, rank.slot = 0) {
      if (steady && rank.time >= limit_) return;
      if (!run_slots(r, &order.slots[run.begin], run.end - run.begin)) return;
    }
  }
}

// Places what is left of a run's slots, a pair that runs together as one; false where one lacks
// what it needs.
bool Walk::run_slots(std::size_t r, const Slot* slots, std::size_t count) {
  Rank& rank = ranks_[r];
  const bool keeps = keeps_ends_ && rank.run == orders_.steady[r];
  while (rank.slot < count) {
    const Slot* const slot = &slots[rank.slot];
    const std::size_t joined = rank.slot + 1 < count && slot[1].joined ? 2 : 1;
    double begin = rank.free, takes = 0;
    for (std::size_t i = 0; i < joined; ++i) {
      const Chunk& chunk = chunks_[r * chunks_of_rank_ + slot[i].chunk];
      if (is_absent(slot[i], chunk)) continue;
      if (slot[i].work == SlotWork::weight_gradient) {  // its input gradient stands before it
        takes += chunk.weight;
        continue;
      }
      const bool forward = slot[i].work == SlotWork::forward;
      if (!forward || !chunk.is_first) {
        const Inbox& inbox = forward ? chunk.activations : chunk.gradients;
        const std::int64_t next = forward ? chunk.forwards_run : chunk.gradients_run;
        if (next >= inbox.count) {
          rank.waits = true;
          return false;
        }
        begin = std::max(begin, inbox.when[next]);
      }
      takes += forward                              ? chunk.forward
               : slot[i].work == SlotWork::backward ? chunk.backward
                                                    : chunk.input;
    }
    const double end = begin + (joined == 2 ? takes * joined_ : takes);
    for (std::size_t i = 0; i < joined; ++i) {
      finish(r, slot[i], begin, end);
      if (keeps) rank.steady_ends.push_back(rank.free);
    }
    rank.slot += joined;
  }
  return true;
}

bool Walk::is_absent(const Slot& slot, const Chunk& chunk) const {
  const std::int64_t run = slot.work == SlotWork::forward           ? chunk.forwards_run
                           : slot.work == SlotWork::weight_gradient ? chunk.weights_run
                                                                    : chunk.gradients_run;
  return run >= micro_batches_;
}

// Counts a slot, and hands on what it has made.
void Walk::finish(std::size_t r, const Slot& slot, double begin, double end) {
  Rank& rank = ranks_[r];
  Chunk& chunk = chunks_[r * chunks_of_rank_ + slot.chunk];
  if (is_absent(slot, chunk)) return;
  std::int64_t micro_batch = 0;
  double free = end;
  if (slot.work == SlotWork::forward) {
    micro_batch = chunk.forwards_run++;
    hand_on(chunk.next, end);
    if (blocking_) free += chunk.next.hop;
  } else if (slot.work == SlotWork::weight_gradient) {
    micro_batch = chunk.weights_run++;
  } else {
    micro_batch = chunk.gradients_run++;
    if (slot.work == SlotWork::backward) ++chunk.weights_run;
    hand_on(chunk.previous, end);
    if (blocking_) free += chunk.previous.hop;
  }
  rank.begin = std::min(rank.begin, begin);
  rank.free = std::max(rank.free, free);
  if (slots_ == nullptr) return;
  slots_->push_back({static_cast<std::int64_t>(r), slot.work, slot.chunk, micro_batch,
                     Seconds(begin), Seconds(end), Seconds(free)});
}

void Walk::hand_on(const Neighbour& to, double end) {
  if (to.inbox == nullptr) return;
  to.inbox->when[to.inbox->count++] = end + to.hop;
  if (!ranks_[to.rank].waits) return;
  ranks_[to.rank].waits = false;
  runnable_.push_back(to.rank);
}

}  // namespace headway

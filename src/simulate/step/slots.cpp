#include "simulate/step/slots.hpp"

#include <algorithm>

namespace headway {

std::shared_ptr<const SlotProgram> SlotPrograms::get(const ChunkBlocks& blocks, SlotWork work) {
  auto& made = made_[{blocks, work}];
  if (!made) made = std::make_shared<const SlotProgram>(slot_program(step_, blocks, work));
  return made;
}

namespace {

// Time that both spans have in common.
Seconds common(Seconds begin, Seconds end, Seconds from, Seconds to) {
  return std::max(Seconds(0), std::min(end, to) - std::max(begin, from));
}

// What a chunk needs of a micro-batch: when it is there, and whose span made it.
struct Arrival {
  bool there = false;
  Seconds when{};
  std::int64_t rank = -1;
  std::size_t span = 0;
  Seconds came{};
};

struct Transit {
  Seconds begin, end;
};

class Placing {
 public:
  Placing(const Pipeline& pipeline, const std::vector<RankWork>& work, const SlotRules& rules,
          std::vector<RankTimeline>& out)
      : pipeline_(pipeline),
        work_(work),
        rules_(rules),
        out_(out),
        micro_batches_(pipeline.micro_batches_of_copy()),
        chunks_(pipeline.chunks()),
        ranks_(work.size()) {
    out_.resize(work.size());
    for (std::size_t r = 0; r < work.size(); ++r) {
      Rank& rank = ranks_[r];
      rank.slots = unrolled(rank_order(pipeline, static_cast<std::int64_t>(r)));
      rank.counts.resize(static_cast<std::size_t>(chunks_));
      rank.activations.resize(static_cast<std::size_t>(chunks_ * micro_batches_));
      rank.gradients.resize(rank.activations.size());
      begin_rank(r);
    }
  }

  void run() {
    bool runs = true;
    while (runs) {
      runs = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r) runs |= run_rank(r);
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) end_rank(r);
  }

 private:
  struct Counts {
    std::int64_t forward = 0, input = 0, weight = 0;
  };
  struct Rank {
    std::vector<Slot> slots;
    std::size_t at = 0;
    std::vector<Counts> counts;  // of each chunk
    std::vector<Arrival> activations, gradients;
    Seconds free{};
    std::int64_t last = -1;            // the span that the next one waits for
    std::vector<Transit> gathers;      // of weights, in turn
    std::array<Seconds, 2> links{};    // when those to the next and the previous stage are free
    Seconds reduced{};                 // when the reductions so far are done
    std::int64_t first = 0, late = 0;  // forward slots of the first micro-batch, backward ones of
                                       // the last, so far
  };

  StepSpan& once(std::size_t r, const std::string& name, StreamId stream, const Transit& at) {
    StepSpan& span = out_[r].spans.emplace_back();
    span.kind = StepSpan::Kind::once;
    span.name = name;
    span.stream = stream;
    span.begin = at.begin;
    span.end = at.end;
    return span;
  }

  // A span that what follows waits for.
  void follow(std::size_t r, StepSpan& span) {
    Rank& rank = ranks_[r];
    if (rank.last >= 0 && span.cause_rank < 0 && span.begin > Seconds(0)) {
      span.cause_rank = static_cast<std::int64_t>(r);
      span.cause = static_cast<std::size_t>(rank.last);
    }
    rank.free = span.end;
    rank.last = static_cast<std::int64_t>(out_[r].spans.size()) - 1;
  }

  // Weights that are gathered under the first forward pass travel from the beginning on; the first
  // ones of those in shards come before it.
  void begin_rank(std::size_t r) {
    const OnceAStep& work = work_[r].once;
    Seconds at(0);
    for (const BesideCalls& calls : work.under_forward) {
      for (std::int64_t i = 0; i < calls.count; ++i) {
        const Transit piece{at, at + calls.each};
        ranks_[r].gathers.push_back(piece);
        StepSpan& span = once(r, calls.name, stream_of(calls.group), piece);
        span.beside = true;
        span.call = calls.call;
        at = piece.end;
      }
    }
    if (!(work.first_gather > Seconds(0))) return;
    StepSpan& span =
        once(r, "dp all_gather", stream_of(Group::dp), {Seconds(0), work.first_gather});
    span.parts.dp = work.first_gather;
    span.call = work.first_gathered;
    span.edge = true;
    follow(r, span);
  }

  bool run_rank(std::size_t r) {
    Rank& rank = ranks_[r];
    bool runs = false;
    for (; rank.at < rank.slots.size(); ++rank.at) {
      const Slot& slot = rank.slots[rank.at];
      const std::int64_t micro_batch = next_of(rank, slot);
      if (micro_batch >= micro_batches_) continue;  // absent
      const Arrival* needed = needs(r, slot, micro_batch);
      if (needed != nullptr && !needed->there) return runs;
      place(r, slot, micro_batch, needed);
      runs = true;
    }
    return runs;
  }

  static std::int64_t& next_of(Rank& rank, const Slot& slot) {
    Counts& counts = rank.counts[slot.chunk];
    return slot.work == SlotWork::forward           ? counts.forward
           : slot.work == SlotWork::weight_gradient ? counts.weight
                                                    : counts.input;
  }

  std::size_t place_of(std::int64_t chunk, std::int64_t micro_batch) const {
    return static_cast<std::size_t>(chunk * micro_batches_ + micro_batch);
  }

  const Arrival* needs(std::size_t r, const Slot& slot, std::int64_t micro_batch) const {
    const Rank& rank = ranks_[r];
    const std::size_t at = place_of(slot.chunk, micro_batch);
    if (slot.work == SlotWork::weight_gradient) return nullptr;
    if (slot.work != SlotWork::forward) return &rank.gradients[at];
    const bool first = pipeline_.losses != Losses::model ||
                       pipeline_.stage(static_cast<std::int64_t>(r), slot.chunk) == 0;
    return first ? nullptr : &rank.activations[at];
  }

  void place(std::size_t r, const Slot& slot, std::int64_t micro_batch, const Arrival* needed) {
    Rank& rank = ranks_[r];
    ++next_of(rank, slot);
    if (slot.work == SlotWork::backward) ++rank.counts[slot.chunk].weight;
    const RankWork& work = work_[r];
    StepSpan span;
    span.work = slot.work;
    span.chunk = slot.chunk;
    span.micro_batch = micro_batch;
    span.program = work.chunks[slot.chunk][static_cast<std::size_t>(slot.work)];
    span.begin = rank.free;
    if (needed != nullptr && needed->when > rank.free) {
      span.begin = needed->when;
      span.cause_rank = needed->rank;
      span.cause = needed->span;
      span.came = needed->came;
    }
    span.parts = span.program->parts;
    if (slot.work != SlotWork::weight_gradient) {
      for (const PartRow& row : kParts) span.parts[row.part] += work.once.of_slot[row.part];
    }
    span.end = span.begin + span.parts.total();
    if (slot.work == SlotWork::forward && micro_batch == 0) wait_for_gathers(rank, span);
    const bool reduces = slot.work == SlotWork::backward || slot.work == SlotWork::weight_gradient;
    if (reduces && micro_batch == micro_batches_ - 1) {
      const Seconds encode = work.once.encode / static_cast<double>(chunks_);
      span.parts.compute += encode;
      span.end += encode;
      add_reductions(r, span);
    }
    out_[r].spans.push_back(span);
    follow(r, out_[r].spans.back());
    hand_on(r, slot, micro_batch);
  }

  // [FORECAST-5] Each part of the slot waits for its share of the weights.
  void wait_for_gathers(Rank& rank, StepSpan& span) {
    const auto count = static_cast<std::int64_t>(rank.gathers.size());
    const std::int64_t from = count * rank.first / chunks_, to = count * (rank.first + 1) / chunks_;
    ++rank.first;
    if (from == to) return;
    const Seconds each = (span.end - span.begin) / static_cast<double>(to - from);
    Seconds at = span.begin;
    for (std::int64_t i = from; i < to; ++i) {
      at = std::max(at, rank.gathers[static_cast<std::size_t>(i)].end) + each;
    }
    const Seconds waited = at - span.end;
    Seconds beside(0);
    for (const Transit& piece : rank.gathers) {
      beside += common(piece.begin, piece.end, span.begin, at);
    }
    const Seconds slower = std::max(Seconds(0), beside - waited) * rules_.interference;
    span.parts.dp += waited;
    span.parts.compute += slower;
    span.end = at + slower;
  }

  // [FORECAST-5] Buckets of gradients, ready one after another.
  void add_reductions(std::size_t r, StepSpan& span) {
    Rank& rank = ranks_[r];
    const OnceAStep& work = work_[r].once;
    const std::int64_t i = rank.late++;
    const Seconds slot = span.end - span.begin;
    Seconds beside(0);
    struct Bucket {
      const BesideCalls* of;
      double ready;  // share of the slot
    };
    std::vector<Bucket> buckets;
    for (const BesideCalls& calls : work.under_backward) {
      const std::int64_t from = calls.count * i / chunks_, to = calls.count * (i + 1) / chunks_;
      for (std::int64_t j = from; j < to; ++j) {
        buckets.push_back(
            {&calls, static_cast<double>(j + 1 - from) / static_cast<double>(to - from)});
      }
    }
    std::stable_sort(buckets.begin(), buckets.end(),
                     [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
    const auto pass = [&](Seconds time, bool keep) {
      Seconds done = rank.reduced;
      for (const Bucket& bucket : buckets) {
        const Seconds begin = std::max(done, span.begin + time * bucket.ready);
        done = begin + bucket.of->each;
        if (keep) {
          StepSpan& reduced = once(r, bucket.of->name, stream_of(bucket.of->group), {begin, done});
          reduced.beside = true;
          reduced.call = bucket.of->call;
        } else {
          beside += common(begin, done, span.begin, span.end);
        }
      }
      return done;
    };
    pass(slot, false);
    const Seconds slower = beside * rules_.interference;
    rank.reduced = pass(slot + slower, true);
    span.parts.compute += slower;
    span.end += slower;
  }

  void hand_on(std::size_t r, const Slot& slot, std::int64_t micro_batch) {
    const auto rank = static_cast<std::int64_t>(r);
    const auto made = handoff(pipeline_, rank, slot);
    if (!made) return;
    const bool forward = slot.work == SlotWork::forward;
    const Seconds hop = made->to.rank == rank ? Seconds(0) : work_[r].once.send;
    Rank& own = ranks_[r];
    Rank& other = ranks_[static_cast<std::size_t>(made->to.rank)];
    auto& arrivals = made->is_gradient ? other.gradients : other.activations;
    Arrival& arrival = arrivals[place_of(made->to.chunk, micro_batch)];
    arrival = {true, own.free, rank, static_cast<std::size_t>(own.last), hop};
    if (!(hop > Seconds(0))) return;
    // One transfer after another in a direction.
    Seconds& link = own.links[forward ? 0 : 1];
    const Seconds begin = std::max(link, own.free);
    link = arrival.when = begin + hop;
    arrival.came = link - own.free;
    StepSpan& send = once(r, forward ? "send to next stage" : "send to stage before",
                          stream_of(Group::pp), {begin, link});
    send.beside = !rules_.blocking;
    send.call = work_[r].once.sent;
    if (!rules_.blocking) return;
    send.parts.pp = hop;
    follow(r, send);
  }

  // What is left to reduce behind the last slot.
  void end_rank(std::size_t r) {
    const Seconds more = work_[r].once.last_reduce;
    if (more > Seconds(0)) {
      const Transit at{ranks_[r].free, ranks_[r].free + more};
      StepSpan& span = once(r, "dp reduce_scatter", stream_of(Group::dp), at);
      span.parts.dp = more;
      span.call = work_[r].once.last_reduced;
      span.edge = true;
      follow(r, span);
    }
    if (!(ranks_[r].reduced > ranks_[r].free)) return;
    StepSpan& span = once(r, "wait for gradients", kKernels, {ranks_[r].free, ranks_[r].reduced});
    span.parts.dp = span.end - span.begin;
    follow(r, span);
  }

  const Pipeline& pipeline_;
  const std::vector<RankWork>& work_;
  SlotRules rules_;
  std::vector<RankTimeline>& out_;
  std::int64_t micro_batches_, chunks_;
  std::vector<Rank> ranks_;
};

}  // namespace

void place_slots(const Pipeline& pipeline, const std::vector<RankWork>& work,
                 const SlotRules& rules, std::vector<RankTimeline>& out) {
  Placing(pipeline, work, rules, out).run();
}

}  // namespace headway

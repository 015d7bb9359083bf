// Recordings of runs with one known fault each: every rank placed in time call by call. Tests only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "forecast/random_run_for_test.hpp"
#include "step/program/group_ranks.hpp"
#include "study/reconcile/expected.hpp"
#include "trace/recording/recording.hpp"

namespace headway::testing {

struct Faults {
  std::int64_t slow_rank = -1;
  double slow = 1;       // what its kernels take
  double network = 1;    // what transfers beyond the first level take, over the model
  bool exposed = false;  // gradients after all computation, not under it
  // What the machine does otherwise than the model, faults or none: times over the model's.
  double kernels = 1, transfers = 1;
};

/// What the ranks of a run (of one pipeline stage) record in `steps` steps: between two calls an
/// equal piece of the computation; a call begins on each rank as it comes and ends on all together.
/// Calls of dp go beside the computation, unless they are exposed.
class MadeRecording {
 public:
  MadeRecording(const Case& c, const Faults& faults) : case_(c), faults_(faults) {
    const Step step = lower(c);
    const Prices prices{c.job, c.layout, c.cluster, c.calibration, step.spans};
    lanes_ = lanes_of(c.layout, step);
    kinds_ = expected_kinds(step, prices, lanes_).front();
    std::stable_partition(kinds_.begin(), kinds_.end(),
                          [&](const ExpectedKind& kind) { return beside(kind); });
    double calls = 0;
    for (const ExpectedKind& kind : kinds_) calls += kind.count;
    // Kernels beside transfers are slower, as much as the model has it.
    Case apart = c;
    const FieldRow& overlap = *field_row("overlap-gradients");
    set_number(apart, overlap, *number_of(overlap.field.form, "off"));
    const Forecast f = apart.priced(), together = c.priced();
    Seconds hidden;
    for (const PricedCall& call : together.calls) {
      if (row_of(call.call.group).part == Part::dp) {
        hidden += call.call.count * call.each - call.exposed;
      }
    }
    if (hidden.value() > 0) {
      slower_beside_ = std::max(0.0, (together.parts.compute - f.parts.compute) / hidden);
    }
    // Whole nanoseconds, so that what follows begins when the one before has ended.
    piece_ =
        std::round((f.parts.compute + f.parts.optimizer).value() * 1e9 / calls * faults.kernels);
    const std::int64_t ranks = c.layout.ranks();
    now_ = wire_ = carries_ = std::vector<double>(static_cast<std::size_t>(ranks), 0);
    out_.format = "made";
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      rank_index(out_, "rank " + std::to_string(rank), rank);
      out_.ranks.back().world_size = ranks;
    }
    for (const ExpectedKind& kind : kinds_) add_circles(kind, step);
  }

  Recording of_steps(int steps) && {
    for (int s = 0; s < steps; ++s) {
      const std::vector<double> begins = now_;
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        for (std::int64_t i = 0; i < std::llround(kinds_[k].count); ++i) add_call(k);
      }
      for (std::size_t rank = 0; rank < now_.size(); ++rank) {
        now_[rank] = std::max(now_[rank], wire_[rank]);
        out_.steps.push_back({static_cast<std::uint32_t>(rank), s, std::llround(begins[rank]),
                              std::llround(now_[rank] - begins[rank])});
      }
    }
    out_.marked_steps = steps;
    return std::move(out_);
  }

 private:
  struct Circle {
    std::uint32_t id = 0;
    std::vector<std::int64_t> members;
  };

  Group group_of(const ExpectedKind& kind) const { return lanes_[kind.lane].groups.front(); }
  bool beside(const ExpectedKind& kind) const {
    return row_of(group_of(kind)).part == Part::dp && !faults_.exposed;
  }

  // The groups that make such calls at once, and what their transfer takes.
  void add_circles(const ExpectedKind& kind, const Step& step) {
    std::vector<Circle>& circles = circles_.emplace_back();
    std::vector<bool> done(now_.size());
    for (std::size_t first = 0; first < now_.size(); ++first) {
      if (done[first]) continue;
      const auto members = group_ranks(case_.layout, group_of(kind),
                                       static_cast<std::int64_t>(first), exchanging_on_node(step));
      const auto id =
          group_index(out_, std::to_string(kind.lane) + " " + std::to_string(members.front()),
                      static_cast<std::int64_t>(members.size()));
      out_.groups[id].ranks = members;
      for (const std::int64_t member : members) done[static_cast<std::size_t>(member)] = true;
      circles.push_back({id, members});
    }
    const int level = crossed_level(span_of_group(step.spans, group_of(kind)), case_.cluster);
    transfers_.push_back(std::round(kind.each.value() * 1e9 * faults_.transfers *
                                    (level > 0 ? faults_.network : 1)));
  }

  void add_call(std::size_t k) {
    ++sequence_;
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      const bool slow = static_cast<std::int64_t>(rank) == faults_.slow_rank;
      const double alone = piece_ * (slow ? faults_.slow : 1);
      const double from = std::max(now_[rank], carries_[rank]);
      const double beside =
          std::clamp(wire_[rank] - from, 0.0, std::max(0.0, now_[rank] + alone - from));
      const double takes = std::round(alone + slower_beside_ * beside);
      out_.compute.push_back(
          {static_cast<std::uint32_t>(rank), 7, std::llround(now_[rank]), std::llround(takes)});
      now_[rank] += takes;
    }
    const ExpectedKind& kind = kinds_[k];
    const bool aside = beside(kind);
    const auto start_of = [&](std::int64_t member) {
      const auto at = static_cast<std::size_t>(member);
      return aside ? std::max(now_[at], wire_[at]) : now_[at];
    };
    for (const Circle& circle : circles_[k]) {
      double met = 0;
      for (const std::int64_t member : circle.members) met = std::max(met, start_of(member));
      for (const std::int64_t member : circle.members) {
        const double start = start_of(member), end = met + transfers_[k];
        RecordedCall call;
        call.op = traced_as(kind.op);
        call.rank = static_cast<std::uint32_t>(member);
        call.group = circle.id;
        call.bytes = kind.bytes;
        call.start_ns = std::llround(start);
        call.duration = Seconds((end - start) * 1e-9);
        call.time = TimeKind::kernel;
        call.stream = aside ? 21 : 20;
        call.sequence = sequence_;
        out_.calls.push_back(call);
        (aside ? wire_ : now_)[static_cast<std::size_t>(member)] = end;
        if (aside) carries_[static_cast<std::size_t>(member)] = met;
      }
    }
  }

  const Case& case_;
  Faults faults_;
  std::vector<Lane> lanes_;
  std::vector<ExpectedKind> kinds_;
  std::vector<std::vector<Circle>> circles_;  // of each kind
  std::vector<double> transfers_;             // of each kind, in ns
  double piece_ = 0;                          // of computation, between two calls
  double slower_beside_ = 0;                  // of the time beside transfers, more than alone
  std::vector<double> now_, wire_;            // of each rank, when its streams are free
  std::vector<double> carries_;               // of each rank, when its last transfer began
  std::int64_t sequence_ = 0;
  Recording out_;
};

inline Recording recording_of_run(const Case& c, const Faults& faults, int steps = 3) {
  return MadeRecording(c, faults).of_steps(steps);
}

/// When the last step ends, in ns.
inline double end_of(const Recording& recording) {
  double out = 0;
  for (const RecordedStep& step : recording.steps) {
    out = std::max(out, static_cast<double>(step.start_ns + step.duration_ns));
  }
  return out;
}

/// Sixteen H100 in two nodes, one micro-batch a step; nothing left to switch on that brings much.
inline Case two_nodes() {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 32;
  c.layout.tp = 2;
  c.layout.dp = 8;
  c.layout.zero = 1;
  c.layout.micro_batch = 4;
  set_number(c, *field_row("overlap-gradients"),
             *number_of(field_row("overlap-gradients")->field.form, "on"));
  return c;
}

inline RequestedRun asked(const Case& c) {
  RequestedRun out;
  static_cast<Run&>(out) = c;
  return out;
}

}  // namespace headway::testing

#include <algorithm>

#include "simulate/codesign/design.hpp"

namespace headway {
namespace {

// Of one rank: the buckets of its gradients, and what the next forward pass and the update take.
struct Reductions {
  Seconds begin, end;            // of the backward slots in which they become ready
  std::vector<Seconds> buckets;  // in the order in which they do
  Seconds forward, update;
  Seconds all;  // when the last of them has come
};

Reductions reductions_of(const RankTimeline& rank, std::int64_t last_micro_batch) {
  Reductions out;
  bool begun = false;
  for (const StepSpan& span : rank.spans) {
    if (span.kind != StepSpan::Kind::slot) continue;
    if (span.work == SlotWork::forward && span.micro_batch == 0) {
      out.forward += span.end - span.begin;
    }
    const bool makes = span.work == SlotWork::backward || span.work == SlotWork::weight_gradient;
    if (!makes || span.micro_batch != last_micro_batch) continue;
    if (!begun) out.begin = span.begin;
    begun = true;
    out.end = span.end;
  }
  out.all = out.end;
  for (const StepSpan& span : rank.spans) {
    if (span.kind == StepSpan::Kind::slot) continue;
    if (span.name == "update") out.update += span.end - span.begin;
    const bool reduces = span.beside && is_of_calls(span.stream) &&
                         span.stream != stream_of(Group::pp) && span.begin >= out.begin;
    if (!begun || !reduces) continue;
    out.buckets.push_back(span.end - span.begin);
    out.all = std::max(out.all, span.end);
  }
  return out;
}

// The end of the next forward pass: part k of it needs bucket B-1-k, for gradients become ready
// from the last layer to the first.
Seconds end_by_priority(const Reductions& of) {
  const std::size_t count = of.buckets.size();
  const auto parts = static_cast<double>(count);
  const Seconds each = (of.forward + of.update) / parts;
  std::vector<Seconds> done(count, Seconds(-1));
  const auto ready = [&](std::size_t i) {
    return of.begin + (of.end - of.begin) * (static_cast<double>(i + 1) / parts);
  };
  Seconds free = of.begin;
  for (std::size_t sent = 0; sent < count; ++sent) {
    // The last of those that are ready; where none is, the next to become so.
    std::size_t next = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (done[i] >= Seconds(0)) continue;
      if (next == count || ready(i) <= free) next = i;
    }
    free = done[next] = std::max(free, ready(next)) + of.buckets[next];
  }
  Seconds at = of.end;
  for (std::size_t k = 0; k < count; ++k) at = std::max(at, done[count - 1 - k]) + each;
  return at;
}

}  // namespace

Seconds saved_by_priority(const SimulatedStep& step) {
  const std::int64_t last = step.pipeline.micro_batches_of_copy() - 1;
  Seconds latest(0);
  for (const RankTimeline& rank : step.ranks) {
    const Reductions of = reductions_of(rank, last);
    Seconds saved(0);
    if (!of.buckets.empty()) {
      saved = std::max(Seconds(0), of.all + of.update + of.forward - end_by_priority(of));
    }
    latest = std::max(latest, rank.end - saved);
  }
  return step.placed - latest;
}

}  // namespace headway

#include "trace/analysis/steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"

namespace headway {
namespace {

// Distances of clocks that may lie anywhere, in seconds.
double seconds_between(std::int64_t begin, std::int64_t end) {
  return static_cast<double>(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin)) *
         1e-9;
}

// When the last call or kernel of each rank has ended.
std::vector<std::int64_t> ends_of_ranks(const Recording& recording) {
  std::vector<std::int64_t> out(recording.ranks.size(), std::numeric_limits<std::int64_t>::min());
  const auto reach = [&](std::uint32_t rank, std::int64_t start, double seconds) {
    const double ns = std::clamp(seconds, 0.0, 1e9) * 1e9;
    std::int64_t end = 0;
    if (!__builtin_add_overflow(start, std::llround(ns) + 1, &end)) {
      out[rank] = std::max(out[rank], end);
    }
  };
  for (const RecordedCall& call : recording.calls) {
    if (!call.start_ns) continue;
    reach(call.rank, *call.start_ns, call.duration.value_or(Seconds()).value());
  }
  for (const RecordedCompute& kernel : recording.compute) {
    reach(kernel.rank, kernel.start_ns, static_cast<double>(kernel.duration_ns) * 1e-9);
  }
  return out;
}

// Marks of a rank in the order of their times. A step ends where the next begins, since a GPU runs
// behind the host that marks it; the last one with its mark, or where marks have no end with the
// recording.
RecordedSteps marked(const Recording& recording) {
  std::map<std::pair<std::uint32_t, std::int64_t>, const RecordedStep*> marks;
  for (const RecordedStep& step : recording.steps) {
    const auto [at, is_new] = marks.emplace(std::pair(step.rank, step.number), &step);
    // Threads may mark the same step: the longest mark holds the others.
    if (!is_new && step.duration_ns > at->second->duration_ns) at->second = &step;
  }
  std::vector<const RecordedStep*> order;
  for (const auto& [key, step] : marks) order.push_back(step);
  std::stable_sort(order.begin(), order.end(), [](const RecordedStep* a, const RecordedStep* b) {
    return std::tie(a->rank, a->start_ns) < std::tie(b->rank, b->start_ns);
  });
  const std::vector<std::int64_t> ends = ends_of_ranks(recording);
  RecordedSteps out;
  out.by = recording.repeated_steps > 0 ? StepsBy::repetition : StepsBy::marks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const RecordedStep& step = *order[i];
    std::int64_t end = 0;
    if (i + 1 < order.size() && order[i + 1]->rank == step.rank) {
      end = order[i + 1]->start_ns;
    } else if (step.duration_ns <= 0 ||
               __builtin_add_overflow(step.start_ns, step.duration_ns, &end)) {
      end = std::max(step.start_ns, ends[step.rank]);
    }
    if (end > step.start_ns) out.ranges.push_back({step.rank, step.number, step.start_ns, end});
  }
  return out;
}

// The steps of a rank that all ranks repeat; none where a call has no start. One call over and over
// is no step: nothing tells how many make one.
std::vector<StepRange> ranges_of(const Recording& recording, const RankRepetition& rank,
                                 std::int64_t steps, std::int64_t end_of_rank) {
  std::vector<StepRange> out;
  if (rank.found.period < 2) return out;
  const auto start = [&](std::int64_t step) -> std::optional<std::int64_t> {
    const std::size_t at = rank.found.begin + rank.found.period * static_cast<std::size_t>(step);
    if (at == rank.calls.size()) return std::max(out.back().begin_ns + 1, end_of_rank);
    return recording.calls[rank.calls[at]].start_ns;
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto begin = start(step);
    if (!begin) return {};
    out.push_back({rank.rank, step, *begin, *begin});
    const auto end = start(step + 1);
    if (!end) return {};
    out.back().end_ns = *end;
  }
  return out;
}

RecordedSteps repeated(const Recording& recording) {
  RecordedSteps out;
  if (recording.marked_steps > 0) return out;  // marks without times
  out.repeated = repeated_steps(recording);
  if (!out.repeated) return out;
  const std::vector<std::int64_t> ends = ends_of_ranks(recording);
  for (const RankRepetition& rank : out.repeated->ranks) {
    const std::vector<StepRange> ranges =
        ranges_of(recording, rank, out.repeated->steps, ends[rank.rank]);
    if (ranges.empty()) {
      out.ranges.clear();
      return out;
    }
    out.ranges.insert(out.ranges.end(), ranges.begin(), ranges.end());
  }
  out.by = StepsBy::repetition;
  return out;
}

// The step of a rank in which something starts, or was asked for; kNone: in none.
class StepFinder {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  StepFinder(const Recording& recording, const RecordedSteps& steps)
      : ranges_(steps.ranges), of_rank_(recording.ranks.size()) {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      of_rank_[ranges_[i].rank].push_back(i);
      numbered_[{ranges_[i].rank, ranges_[i].number}] = i;
    }
    for (auto& of : of_rank_) {
      std::sort(of.begin(), of.end(), [&](std::size_t a, std::size_t b) {
        return ranges_[a].begin_ns < ranges_[b].begin_ns;
      });
    }
  }
  // Of a call that has a start.
  std::size_t of(const RecordedCall& call) const {
    if (call.step == RecordedCall::kStepNotSaid) return of(call.rank, *call.start_ns);
    const auto found = numbered_.find({call.rank, call.step});
    return found == numbered_.end() ? kNone : found->second;
  }
  std::size_t of(std::uint32_t rank, std::int64_t start_ns) const {
    const auto& of = of_rank_[rank];
    auto behind = std::upper_bound(
        of.begin(), of.end(), start_ns,
        [&](std::int64_t start, std::size_t i) { return start < ranges_[i].begin_ns; });
    if (behind == of.begin()) return kNone;
    const std::size_t found = *--behind;
    return ranges_[found].holds(start_ns) ? found : kNone;
  }

 private:
  const std::vector<StepRange>& ranges_;
  std::vector<std::vector<std::size_t>> of_rank_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> numbered_;
};

}  // namespace

RecordedSteps steps_of(const Recording& recording) {
  return recording.steps.empty() ? repeated(recording) : marked(recording);
}

bool keep_steps(Recording& recording, const RecordedSteps& steps, std::int64_t first,
                std::int64_t last) {
  const StepFinder finder(recording, steps);
  const auto inside = [&](std::size_t step) {
    return step != StepFinder::kNone && steps.ranges[step].number >= first &&
           steps.ranges[step].number <= last;
  };
  std::set<std::int64_t> numbers;
  std::vector<RecordedStep> kept;
  for (const StepRange& range : steps.ranges) {
    if (range.number < first || range.number > last) continue;
    numbers.insert(range.number);
    std::int64_t length = 0;
    if (__builtin_sub_overflow(range.end_ns, range.begin_ns, &length)) length = 0;
    kept.push_back({range.rank, range.number, range.begin_ns, length});
  }
  if (numbers.empty()) return false;
  std::erase_if(recording.calls, [&](const RecordedCall& call) {
    return !call.start_ns || !inside(finder.of(call));
  });
  std::erase_if(recording.compute, [&](const RecordedCompute& kernel) {
    return !inside(finder.of(kernel.rank, kernel.start_ns));
  });
  recording.graph.clear();  // its needs lie outside
  recording.steps = std::move(kept);
  const auto count = static_cast<std::int64_t>(numbers.size());
  (steps.by == StepsBy::marks ? recording.marked_steps : recording.repeated_steps) = count;
  return true;
}

std::vector<StepRow> step_table(const Recording& recording, const RecordedSteps& steps,
                                const Alignment& alignment) {
  const StepFinder finder(recording, steps);
  // Of each step of each rank what it holds, in a recording of its own for the overlap.
  const bool computes = !recording.compute.empty();
  std::vector<Recording> parts(computes ? steps.ranges.size() : 0);
  std::vector<StepOfRank> of_range(steps.ranges.size());
  std::vector<std::size_t> step_of_call(recording.calls.size(), StepFinder::kNone);
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (!call.start_ns) continue;
    const std::size_t step = step_of_call[i] = finder.of(call);
    if (step == StepFinder::kNone) continue;
    const bool timed = call.time == TimeKind::kernel || call.time == TimeKind::host;
    if (timed && call.duration) of_range[step].communication += call.count * *call.duration;
    if (computes) parts[step].calls.push_back(call);
  }
  for (const RecordedCompute& kernel : recording.compute) {
    const std::size_t step = finder.of(kernel.rank, kernel.start_ns);
    if (step != StepFinder::kNone) parts[step].compute.push_back(kernel);
  }
  for (const MatchedCall& matched : alignment.matched) {
    Seconds waited;
    std::size_t last = StepFinder::kNone;
    for (std::size_t i = 0; i < matched.calls.size(); ++i) {
      const std::size_t step = step_of_call[matched.calls[i]];
      if (step == StepFinder::kNone) continue;
      of_range[step].waits += matched.waiting[i];
      waited += matched.waiting[i];
      if (recording.calls[matched.calls[i]].rank == matched.last_rank) last = step;
    }
    if (last != StepFinder::kNone) of_range[last].causes += waited;
  }
  std::map<std::int64_t, StepRow> rows;
  for (std::size_t i = 0; i < steps.ranges.size(); ++i) {
    const StepRange& range = steps.ranges[i];
    StepOfRank& rank = of_range[i];
    rank.rank = range.rank;
    rank.span = Seconds(seconds_between(range.begin_ns, range.end_ns));
    if (computes) {
      const auto overlap = overlap_of(parts[i]);
      if (!overlap.empty()) {
        rank.compute = overlap.front().compute;
        rank.exposed = overlap.front().exposed;
        rank.idle = std::max(Seconds(0), rank.span - *rank.compute - *rank.exposed);
      }
    }
    StepRow& row = rows[range.number];
    row.number = range.number;
    row.longest = std::max(row.longest, rank.span);
    row.ranks.push_back(rank);
  }
  std::vector<StepRow> out;
  for (auto& [number, row] : rows) {
    const auto most = std::max_element(
        row.ranks.begin(), row.ranks.end(),
        [](const StepOfRank& a, const StepOfRank& b) { return a.causes < b.causes; });
    if (most->causes.value() > 0) row.last = most->rank;
    out.push_back(std::move(row));
  }
  return out;
}

// [TRACE-12] Of a step and rank, own work = span - exposed communication, of all communication
// where no computation is recorded; work of a rank = mean over the steps of own work / median of
// the ranks'.
std::vector<Straggler> stragglers(const std::vector<StepRow>& rows) {
  std::map<std::uint32_t, Straggler> found;
  std::map<std::uint32_t, double> work;
  for (const StepRow& row : rows) {
    std::vector<double> own;
    for (const StepOfRank& rank : row.ranks) {
      const Seconds alone = rank.exposed.value_or(rank.communication);
      own.push_back(std::max(Seconds(0), rank.span - alone).value());
    }
    const double middle = *quantile(own, 0.5);
    for (std::size_t i = 0; i < row.ranks.size(); ++i) {
      const StepOfRank& rank = row.ranks[i];
      Straggler& straggler = found[rank.rank];
      straggler.rank = rank.rank;
      straggler.causes += rank.causes;
      ++straggler.steps;
      straggler.last_in += row.last == rank.rank ? 1 : 0;
      work[rank.rank] += middle > 0 ? own[i] / middle : 1;
    }
  }
  std::vector<Straggler> out;
  for (auto& [rank, straggler] : found) {
    straggler.causes /= static_cast<double>(straggler.steps);
    straggler.work = work[rank] / static_cast<double>(straggler.steps);
    out.push_back(straggler);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Straggler& a, const Straggler& b) { return a.causes > b.causes; });
  return out;
}

}  // namespace headway

// The steps that a recording holds: where each begins and ends on each rank, what the rank did in
// it, and who made the others wait.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/analysis/align.hpp"
#include "trace/analysis/overlap.hpp"
#include "trace/analysis/repetition.hpp"

namespace headway {

/// How the steps became known.
enum class StepsBy : std::uint8_t { none, marks, repetition };
constexpr std::string_view kStepsByNames[] = {"not known", "marks", "repetition"};
constexpr std::string_view to_name(StepsBy by) {
  return kStepsByNames[static_cast<std::size_t>(by)];
}

/// One step of one rank, on its clock: what starts from `begin_ns` on and before `end_ns` is of it.
struct StepRange {
  std::uint32_t rank = 0;
  std::int64_t number = 0;  // as the source marks it; found by repetition: from 0
  std::int64_t begin_ns = 0, end_ns = 0;

  bool holds(std::int64_t start_ns) const { return begin_ns <= start_ns && start_ns < end_ns; }
};

struct RecordedSteps {
  StepsBy by = StepsBy::none;
  std::vector<StepRange> ranges;  // by rank, each with rising numbers
  /// What all ranks repeat, where nothing is marked; also of calls without a start, which have no
  /// ranges.
  std::optional<RepeatedSteps> repeated = std::nullopt;
};

/// [TRACE-11] As marked; where nothing is, by what all ranks repeat [TRACE-13].
RecordedSteps steps_of(const Recording& recording);

/// Leaves of a recording the calls, kernels and steps numbered `first` to `last` of its `steps`.
/// False, and nothing is changed, where these hold none of the numbers.
bool keep_steps(Recording& recording, const RecordedSteps& steps, std::int64_t first,
                std::int64_t last);

/// A rank in a step. `causes`: what the others waited for it in the collectives that it came last
/// to, all of them together.
struct StepOfRank {
  std::uint32_t rank = 0;
  Seconds span;
  std::optional<Seconds> compute, exposed, idle;  // where computation is recorded
  Seconds communication;                          // of all calls with a time of their own
  Seconds waits, causes;
};
struct StepRow {
  std::int64_t number = 0;
  std::vector<StepOfRank> ranks;      // as recorded
  Seconds longest;                    // span of a rank
  std::optional<std::uint32_t> last;  // the rank that causes most; nothing where none waits
};

/// One row a step, in the order of their numbers.
std::vector<StepRow> step_table(const Recording& recording, const RecordedSteps& steps,
                                const Alignment& alignment);

/// [TRACE-12] A rank over all steps.
struct Straggler {
  std::uint32_t rank = 0;
  Seconds causes;            // waiting of others, a step
  std::int64_t last_in = 0;  // steps in which it caused most
  std::int64_t steps = 0;    // that are known of it
  /// Its own work (the span less the communication that nothing hides; less all of it where no
  /// computation is recorded) over the median of the ranks', the mean of the steps: a rank that is
  /// late because it works longer has it above 1.
  double work = 1;
};
/// Who causes most first.
std::vector<Straggler> stragglers(const std::vector<StepRow>& rows);

}  // namespace headway

// Two recordings of one program, before and after a change: which calls, sizes, times, waiting and
// overlap differ, what changed most first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "trace/analysis/align.hpp"
#include "trace/analysis/overlap.hpp"
#include "trace/files.hpp"

namespace headway {

/// Of what the amounts of two recordings are: recordings of different length are set side by side
/// by the step, where that cannot be by the second.
enum class Per : std::uint8_t { step, second, recording };
constexpr std::array<std::string_view, 3> kPerNames = {"step", "second", "recording"};
constexpr std::string_view to_name(Per per) {
  return kPerNames[static_cast<std::size_t>(per)];
}

/// What one rank does in a step (second, recording): the mean over the ranks that are compared.
/// Absent where the source does not say it.
struct Amounts {
  double count = 0;
  std::optional<Bytes> bytes, wire_bytes;
  std::optional<Seconds> time, waiting, exposed;
};

/// Calls of one group and operation, and of one size where the row is of sizes.
struct CallsChange {
  std::optional<std::uint32_t> group_before, group_after;  // the first of alike ones
  Operation op = Operation::other;
  std::optional<Bytes> size;  // the smallest of those within kSameSize of each other
  Amounts before, after;
};

/// Two groups of the same ranks; of recordings that list none, of the same name and size.
struct GroupPair {
  std::optional<std::uint32_t> before, after;  // neither: calls without a group
};

struct ChangeSide {
  double steps = 0;  // 0: not known
  Seconds span;      // from the first start to the last end, the mean of the ranks; 0: no times
  std::int64_t calls = 0;
  std::vector<std::string> only_ranks;     // recorded on this side alone
  std::vector<std::uint32_t> only_groups;  // with calls of ranks that are compared
  std::optional<Seconds> compute, communication, hidden, exposed, idle;  // as Amounts
};

/// One of the two recordings, and what is compared of it beside its calls.
struct ChangeRun {
  RunRecording run;
  Alignment alignment;
  std::vector<Overlap> overlap;  // where computation is recorded

  const Recording& recording() const { return run.recording; }
};
ChangeRun change_run(RunRecording run);

struct Change {
  ChangeRun before_run, after_run;
  Per per = Per::recording;
  ChangeSide before, after;
  std::vector<std::string> ranks;  // that are compared; empty: all, as none is in both
  std::vector<GroupPair> groups;
  std::vector<CallsChange> by_group, by_size;  // what changed most first
  Amounts whole_before, whole_after;           // of the groups that both have
  std::vector<std::string> notes;
};

/// Sizes of messages that count as one: padding and uneven buckets make them differ by as much.
inline constexpr double kSameSize = 0.01;

/// [TRACE-10] `steps`: in each of the recordings; 0: as they mark them. A problem where the two
/// have nothing in common.
Result<Change> change_between(ChangeRun before, ChangeRun after, double steps = 0);

}  // namespace headway

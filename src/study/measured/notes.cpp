// What a trace does not say, each thing once.
#include <algorithm>
#include <map>

#include "base/quantity_text.hpp"
#include "study/measured/measured.hpp"

namespace headway {
namespace {

template <class Holds>
std::int64_t calls_where(const Recording& recording, Holds holds) {
  return std::count_if(recording.calls.begin(), recording.calls.end(), holds);
}

// What is said of the whole recording already, so that single omissions need not repeat it.
struct Said {
  bool no_sizes = false, no_durations = false;
};

void note_sizes(const Recording& recording, Said& said, std::vector<std::string>& notes) {
  const std::int64_t calls = calls_where(
      recording, [](const RecordedCall& call) { return call.op != Operation::barrier; });
  const std::int64_t sized = calls_where(
      recording, [](const RecordedCall& call) { return call.bytes || call.counted_bytes; });
  if (calls == 0 || sized > 0) return;
  said.no_sizes = true;
  notes.push_back("no sizes in this trace: " + (recording.size_advice.empty()
                                                    ? "the source has no such field"
                                                    : recording.size_advice));
}

void note_times(const Recording& recording, Said& said, std::vector<std::string>& notes) {
  if (recording.calls.empty()) return;
  const auto of_kind = [&](TimeKind kind) {
    return calls_where(recording, [&](const RecordedCall& call) { return call.time == kind; });
  };
  const auto all = static_cast<std::int64_t>(recording.calls.size());
  if (of_kind(TimeKind::none) == all) {
    said.no_durations = true;
    notes.push_back("no durations in this trace: it says which calls were made, not how long");
  } else if (of_kind(TimeKind::enqueue) + of_kind(TimeKind::none) == all) {
    notes.push_back(
        "no time of a transfer in this trace: enqueue times are the host's, to put a call into a "
        "queue");
  }
}

void note_done(const Measured& measured, std::vector<std::string>& notes) {
  std::map<std::pair<Operation, Operation>, double> done;
  for (const CallTableRow& row : measured.calls) {
    if (row.done_as) done[{row.op, *row.done_as}] += row.count;
  }
  for (const auto& [ops, count] : done) {
    notes.push_back("calls of " + std::string(to_name(ops.first)) + " that the backend did as " +
                    std::string(to_name(ops.second)) + ": " +
                    std::to_string(static_cast<std::int64_t>(count)) +
                    "; what goes over the wire is counted as it was done");
  }
}

void note_ranks(const Measured& measured, std::vector<std::string>& notes) {
  const Recording& recording = measured.recording();
  const std::int64_t kernels = calls_where(recording, [](const RecordedCall& call) {
    return call.time == TimeKind::kernel || call.blocks;
  });
  if (kernels == 0) return;
  if (recording.ranks.size() == 1) {
    notes.push_back(
        "one rank is recorded: waiting for other ranks cannot be told from transfer; name the "
        "files of all ranks");
  } else if (measured.alignment.matched.empty()) {
    notes.push_back("no call could be matched with one of another rank: waiting is not known");
  } else if (measured.alignment.unmatched > 0) {
    notes.push_back("calls whose partners on other ranks could not be told: " +
                    std::to_string(measured.alignment.unmatched));
  }
  if (recording.compute.empty()) {
    notes.push_back("no computation is recorded: what it hides is not known");
  }
}

void note_steps(const Measured& measured, std::vector<std::string>& notes) {
  if (!measured.steps.repeated) return;
  const RepeatedSteps& found = *measured.steps.repeated;
  std::string note = "no step is marked; by what repeats there are " + std::to_string(found.steps) +
                     ", of " + count_text(found.calls) + " calls of a rank each";
  if (found.before > 0) note += ", behind " + count_text(found.before) + " other calls";
  if (found.behind > 0) note += ", before " + count_text(found.behind) + " others";
  notes.push_back(note);
}

}  // namespace

std::vector<std::string> notes_on(const Measured& measured) {
  const Recording& recording = measured.recording();
  std::vector<std::string> notes;
  Said said;
  note_sizes(recording, said, notes);
  note_times(recording, said, notes);
  for (const Omission& omission : recording.omissions) {
    if (omission.lost || (said.no_sizes && omission.what == kCallsWithoutSize)) continue;
    if (said.no_durations &&
        (omission.what == kCallsWithoutDuration || omission.what == kLogWithoutDurations)) {
      continue;
    }
    notes.push_back(omission.what +
                    (omission.count > 1 ? ": " + std::to_string(omission.count) : std::string()));
  }
  if (measured.grouped > 0) {
    notes.push_back("calls without a named group, found to be of all ranks: " +
                    std::to_string(measured.grouped));
  }
  note_steps(measured, notes);
  note_done(measured, notes);
  note_ranks(measured, notes);
  return notes;
}

}  // namespace headway

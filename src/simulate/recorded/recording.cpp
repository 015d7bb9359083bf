#include "simulate/recorded/recording.hpp"

#include <algorithm>
#include <map>

#include "trace/analysis/call_table.hpp"

namespace headway {
namespace {

Seconds seconds_of(Nanoseconds time) {
  return Seconds(static_cast<double>(time) * 1e-9);
}

// What the ranks of a meeting wait for the last of them.
Nanoseconds waiting_in(const CallMeeting& meeting, const RunAgain& run, Nanoseconds met) {
  Nanoseconds out = 0;
  for (const std::uint32_t item : meeting.items) out += met - run.begins[item];
  return out;
}

// Rows by group, those of the same name and size as one, and operation.
class Rows {
 public:
  explicit Rows(const Recording& recording)
      : recording_(recording), alike_(alike_groups(recording)) {}

  RecordedCalls& of(const CallMeeting& meeting) {
    const RecordedCall& call = recording_.calls[meeting.calls.front()];
    const std::uint32_t group = call.group ? alike_[*call.group] : kNoGroup;
    // A transfer is a send and its receive.
    const bool pair =
        meeting.calls.size() == 2 && (call.op == Operation::send || call.op == Operation::receive);
    const Operation op = pair ? Operation::send_receive : call.op;
    const auto [at, is_new] = places_.try_emplace({group, op}, rows_.size());
    if (is_new) {
      rows_.push_back(
          {.group = group_name(recording_, call.group),
           .op = op,
           .ranks = pair ? std::optional<std::int64_t>(2) : group_size(recording_, call)});
    }
    RecordedCalls& row = rows_[at->second];
    if (!row.ranks && meeting.complete) {
      row.ranks = static_cast<std::int64_t>(meeting.calls.size());
    }
    ++row.calls;
    if (call.bytes) row.bytes += *call.bytes;
    return row;
  }
  std::vector<RecordedCalls> take() && {
    std::vector<RecordedCalls> out;
    for (const auto& [key, place] : places_) out.push_back(std::move(rows_[place]));
    return out;
  }

 private:
  const Recording& recording_;
  std::vector<std::uint32_t> alike_;
  std::map<std::pair<std::uint32_t, Operation>, std::size_t> places_;
  std::vector<RecordedCalls> rows_;
};

void add(std::optional<Seconds>& to, Nanoseconds more) {
  to = to.value_or(Seconds(0)) + seconds_of(more);
}

}  // namespace

Result<SimulatedRecording> simulate_recording(const Recording& recording,
                                              const std::optional<OtherNetwork>& other) {
  // Items that wait for each other, or why there are none.
  const auto program = program_of(recording);
  if (!program) return program.problems();

  // As it was: with the transfers that were measured, where they were.
  const auto measured = measured_transfers(*program);
  if (!measured && !other) {
    return Problem{"recording",
                   "says no times of its calls: name a network that they are to be simulated on, "
                   "by --topology or --cluster",
                   Trouble::missing};
  }
  std::optional<RunAgain> own, there;
  if (measured) {
    auto run = run_again(*program, recording, *measured);
    if (!run) return run.problems();
    own = std::move(run).value();
  }

  // On the other network.
  std::vector<Nanoseconds> transfers;
  if (other) {
    auto priced = transfers_on(*other, *program, recording);
    if (!priced) return priced.problems();
    transfers = std::move(priced).value();
    auto run = run_again(*program, recording, transfers);
    if (!run) return run.problems();
    there = std::move(run).value();
  }

  SimulatedRecording out;
  out.ranks = static_cast<std::int64_t>(recording.ranks.size());
  out.steps = recording.marked_steps;
  out.format = recording.format;
  out.of_graph = program->of_graph;
  out.alone = program->alone;
  if (program->measured) out.measured = seconds_of(*program->measured);
  if (own) out.own = seconds_of(own->time);
  if (other) out.network = other->name();
  if (there) out.simulated = seconds_of(there->time);
  Rows rows(recording);
  for (std::size_t m = 0; m < program->meetings.size(); ++m) {
    const CallMeeting& meeting = program->meetings[m];
    RecordedCalls& row = rows.of(meeting);
    if (meeting.transfer) add(row.measured, *meeting.transfer);
    if (own) add(row.waited, waiting_in(meeting, *own, own->met[m]));
    if (!there) continue;
    add(row.simulated, transfers[m]);
    add(row.waits, waiting_in(meeting, *there, there->met[m]));
  }
  out.groups = std::move(rows).take();
  return out;
}

}  // namespace headway

#include "simulate/recorded/path.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "simulate/recorded/again.hpp"

namespace headway {
namespace {

class PathWalk {
 public:
  PathWalk(const Recording& recording, const RecordedProgram& program, const RunAgain& run)
      : recording_(recording), program_(program), run_(run) {}

  // From what ends last back to the beginning: before a call stands whoever came last to it, before
  // anything else what it waited for the longest. At most one step an item.
  RecordedPath walk() && {
    RecordedPath out;
    auto at = static_cast<std::uint32_t>(std::max_element(run_.ends.begin(), run_.ends.end()) -
                                         run_.ends.begin());
    Nanoseconds until = run_.ends[at];
    for (std::size_t steps = 0; steps <= program_.items.size(); ++steps) {
      const RecordedItem& item = program_.items[at];
      Nanoseconds begin = run_.begins[at];
      if (item.meeting == RecordedItem::kAlone) {
        add(PathKind::compute, item.rank, until - begin);
        if (item.kernel != RecordedItem::kAlone) out.kernels.push_back(item.kernel);
      } else {
        const std::uint32_t last = last_of(program_.meetings[item.meeting]);
        out.calls.push_back(call_of(at));
        const Nanoseconds met = run_.begins[last];
        // Whoever went on before the call was over waited for nobody.
        const bool waited = until > met;
        if (waited && last != at) {
          out.changes += program_.items[last].rank != item.rank ? 1 : 0;
          add_transfer(at, until - met);
          out.calls.push_back(call_of(last));
          at = last;
          begin = met;
        } else {
          add_transfer(at, until - begin);
        }
      }
      const RecordedItem& reached = program_.items[at];
      const RecordedNeed* need = nullptr;
      for (const RecordedNeed& each : reached.needs) {
        const bool later =
            need == nullptr || run_.ends[each.item] + each.lag > run_.ends[need->item] + need->lag;
        if (later) need = &each;
      }
      const bool released = need == nullptr || run_.ends[need->item] + need->lag < begin;
      if (released) {
        add(PathKind::between, reached.rank, begin);
        break;
      }
      add(PathKind::between, reached.rank, begin - run_.ends[need->item]);
      until = run_.ends[need->item];
      at = need->item;
    }
    for (auto& [key, part] : parts_) {
      if (part.time.value() != 0) out.parts.push_back(part);
    }
    std::stable_sort(out.parts.begin(), out.parts.end(),
                     [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
    out.time = Seconds(static_cast<double>(run_.time) * 1e-9);
    return out;
  }

 private:
  std::uint32_t last_of(const CallMeeting& meeting) const {
    return *std::max_element(
        meeting.items.begin(), meeting.items.end(),
        [&](std::uint32_t a, std::uint32_t b) { return run_.begins[a] < run_.begins[b]; });
  }

  void add(PathKind kind, std::uint32_t rank, Nanoseconds time,
           std::optional<std::uint32_t> group = std::nullopt, Operation op = Operation::other) {
    if (time == 0) return;
    PathPart& part = parts_[{kind, rank, group.value_or(kNoGroup), op}];
    part.kind = kind;
    part.rank = rank;
    part.group = group;
    part.op = op;
    ++part.count;
    part.time += Seconds(static_cast<double>(time) * 1e-9);
  }

  // The call that an item is a rank's part of.
  std::size_t call_of(std::uint32_t at) const {
    const CallMeeting& meeting = program_.meetings[program_.items[at].meeting];
    const auto place = std::find(meeting.items.begin(), meeting.items.end(), at);
    return meeting.calls[static_cast<std::size_t>(place - meeting.items.begin())];
  }

  void add_transfer(std::uint32_t at, Nanoseconds time) {
    const RecordedCall& call = recording_.calls[call_of(at)];
    add(PathKind::transfer, program_.items[at].rank, time, call.group, call.op);
  }

  const Recording& recording_;
  const RecordedProgram& program_;
  const RunAgain& run_;
  std::map<std::tuple<PathKind, std::uint32_t, std::uint32_t, Operation>, PathPart> parts_;
};

}  // namespace

Result<RecordedPath> path_of(const Recording& recording) {
  const auto program = program_of(recording);
  if (!program) return program.problems();
  const auto transfers = measured_transfers(*program);
  if (!transfers) return Problem{"recording", "says no times of its calls", Trouble::missing};
  const auto run = run_again(*program, recording, *transfers);
  if (!run) return run.problems();
  return PathWalk(recording, *program, *run).walk();
}

}  // namespace headway

// The program of a recording that has times and no graph.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>

#include "simulate/recorded/programs.hpp"
#include "trace/analysis/align.hpp"
#include "trace/analysis/pairs.hpp"

namespace headway {
namespace {

// Clocks count from 1970 or from anywhere; from the first event of a recording to its last it is
// less than 36 years.
constexpr Nanoseconds kFarthestTime = Nanoseconds{1} << 62, kLongestTime = Nanoseconds{1} << 60;

Nanoseconds nanoseconds_of(Seconds time) {
  return std::llround(std::min(time.value(), 1e9) * 1e9);
}

// A kernel or call on the clock that all ranks share.
struct PlacedItem {
  Nanoseconds start = 0, end = 0;
  std::int64_t stream = -1;
  std::uint32_t item = 0;
};

class TimedReader {
 public:
  explicit TimedReader(const Recording& recording)
      : recording_(recording), timed_(recording), by_rank_(recording.ranks.size()) {
    // What ran on the host until it was done lasted as a kernel does.
    for (RecordedCall& call : timed_.calls) {
      if (call.time == TimeKind::host) call.time = TimeKind::kernel;
    }
    alignment_ = align(timed_);
    item_of_call_.assign(recording.calls.size(), RecordedItem::kAlone);
  }

  Result<RecordedProgram> read() && {
    find_clocks();
    for (std::size_t i = 0; i < timed_.calls.size(); ++i) add_call(i);
    for (std::size_t i = 0; i < timed_.compute.size(); ++i) add_kernel(i);
    note_untimed();
    if (!problems_.empty()) return problems_;
    for (auto& placed : by_rank_) add_needs(placed);
    for (const MatchedCall& matched : alignment_.matched) meet(matched.calls, matched.complete);
    meet_pairs();
    meet_alone();
    program_.measured = last_;
    return std::move(program_);
  }

 private:
  // Every rank's clock on that of the first; where that cannot be told, from its own first event.
  void find_clocks() {
    const Nanoseconds none = std::numeric_limits<Nanoseconds>::max();
    first_.assign(timed_.ranks.size(), none);
    for (const RecordedCall& call : timed_.calls) {
      if (usable(call)) first_[call.rank] = std::min(first_[call.rank], *call.start_ns);
    }
    for (const RecordedCompute& kernel : timed_.compute) {
      if (!fits(kernel.start_ns)) continue;
      first_[kernel.rank] = std::min(first_[kernel.rank], kernel.start_ns);
    }
    Nanoseconds zero = none;
    std::vector<Nanoseconds> aligned(first_.size(), none);
    for (std::size_t r = 0; r < first_.size(); ++r) {
      const auto offset = alignment_.clock_offset_ns[r];
      if (first_[r] == none || !offset || !fits(*offset)) continue;
      aligned[r] = first_[r] + *offset;
      zero = std::min(zero, aligned[r]);
    }
    begins_.assign(first_.size(), 0);
    for (std::size_t r = 0; r < first_.size(); ++r) {
      Nanoseconds begin = 0;
      const bool far = aligned[r] == none || __builtin_sub_overflow(aligned[r], zero, &begin);
      begins_[r] = far || begin >= kLongestTime ? 0 : begin;
    }
  }

  static bool fits(Nanoseconds time) { return time > -kFarthestTime && time < kFarthestTime; }
  static bool usable(const RecordedCall& call) {
    return call.time == TimeKind::kernel && call.duration && call.start_ns &&
           fits(*call.start_ns) && call.count == 1;
  }

  void add(std::uint32_t rank, std::int64_t stream, Nanoseconds start, Nanoseconds duration) {
    const auto item = static_cast<std::uint32_t>(program_.items.size());
    if (start - first_[rank] >= kLongestTime || duration >= kLongestTime) {
      if (!is_far_) problems_.push_back({"recording", "has times that are years apart"});
      is_far_ = true;
      return;
    }
    const Nanoseconds begin = begins_[rank] + (start - first_[rank]);
    program_.items.push_back({.rank = rank, .duration = duration});
    by_rank_[rank].push_back({begin, begin + duration, stream, item});
    begin_.push_back(begin);
    last_ = std::max(last_, begin + duration);
  }
  void add_call(std::size_t i) {
    const RecordedCall& call = timed_.calls[i];
    if (!usable(call)) {
      ++untimed_;
      return;
    }
    item_of_call_[i] = static_cast<std::uint32_t>(program_.items.size());
    add(call.rank, call.stream.value_or(-1), *call.start_ns, nanoseconds_of(*call.duration));
  }
  void add_kernel(std::size_t i) {
    const RecordedCompute& kernel = timed_.compute[i];
    if (!fits(kernel.start_ns) || kernel.duration_ns < 0) {
      if (!is_far_) problems_.push_back({"recording", "has times that are years apart"});
      is_far_ = true;
      return;
    }
    const std::size_t before = program_.items.size();
    add(kernel.rank, kernel.stream, kernel.start_ns, kernel.duration_ns);
    if (program_.items.size() > before)
      program_.items.back().kernel = static_cast<std::uint32_t>(i);
  }

  void note_untimed() {
    if (untimed_ > 0) {
      problems_.push_back({"recording",
                           std::to_string(untimed_) + " of its " +
                               std::to_string(timed_.calls.size()) +
                               " calls have no start and duration of their own on a device (" +
                               recording_.format + "), so that they cannot be placed in time",
                           Trouble::unsupported});
    }
  }

  // [SIM-42] In the order of their starts: what each waited for.
  void add_needs(std::vector<PlacedItem>& placed) {
    std::sort(placed.begin(), placed.end(), [](const PlacedItem& a, const PlacedItem& b) {
      return std::tie(a.start, a.end, a.item) < std::tie(b.start, b.end, b.item);
    });
    const auto later = [&](std::size_t a, std::size_t b) { return placed[a].end > placed[b].end; };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> running(later);
    std::optional<std::size_t> ended;  // what ended last so far
    std::map<std::int64_t, std::size_t> on_stream;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      const PlacedItem& each = placed[i];
      while (!running.empty() && placed[running.top()].end <= each.start) {
        ended = running.top();
        running.pop();
      }
      RecordedItem& item = program_.items[each.item];
      if (ended) {
        item.needs.push_back({placed[*ended].item, each.start - placed[*ended].end});
      } else {
        item.release = each.start;
      }
      const auto before = on_stream.find(each.stream);
      const bool follows = before != on_stream.end() && before->second != ended &&
                           placed[before->second].end <= each.start;
      if (follows) item.needs.push_back({placed[before->second].item, 0});
      on_stream[each.stream] = i;
      running.push(i);
    }
  }

  void meet(const std::vector<std::size_t>& calls, bool complete) {
    CallMeeting meeting;
    meeting.complete = complete;
    Nanoseconds arrived = std::numeric_limits<Nanoseconds>::min();
    for (const std::size_t call : calls) {
      const std::uint32_t item = item_of_call_[call];
      meeting.items.push_back(item);
      meeting.calls.push_back(call);
      arrived = std::max(arrived, begin_[item]);
      const Nanoseconds taken = program_.items[item].duration;
      meeting.transfer = std::min(meeting.transfer.value_or(taken), taken);
    }
    for (const std::uint32_t at : meeting.items) {
      RecordedItem& item = program_.items[at];
      item.meeting = static_cast<std::uint32_t>(program_.meetings.size());
      item.leaves = begin_[at] + item.duration - (arrived + *meeting.transfer);
    }
    program_.meetings.push_back(std::move(meeting));
  }
  void meet_pairs() {
    for (const auto& [ends, pair] : pair_calls(timed_)) {
      if (pair.sends.size() != pair.receives.size()) continue;
      for (std::size_t i = 0; i < pair.sends.size(); ++i) {
        meet({pair.sends[i], pair.receives[i]}, true);
      }
    }
  }
  void meet_alone() {
    for (std::size_t i = 0; i < timed_.calls.size(); ++i) {
      if (program_.items[item_of_call_[i]].meeting != RecordedItem::kAlone) continue;
      meet({i}, false);
      ++program_.alone;
    }
  }

  const Recording& recording_;
  Recording timed_;
  Alignment alignment_;
  RecordedProgram program_;
  Problems problems_;
  std::vector<std::vector<PlacedItem>> by_rank_;
  std::vector<Nanoseconds> first_, begins_;  // of each rank, on its clock and on the one of all
  std::vector<Nanoseconds> begin_;           // of each item
  bool is_far_ = false;
  std::vector<std::uint32_t> item_of_call_;
  std::int64_t untimed_ = 0;
  Nanoseconds last_ = 0;
};

}  // namespace

Result<RecordedProgram> timed_program(const Recording& recording) {
  return TimedReader(recording).read();
}

Result<RecordedProgram> program_of(const Recording& recording) {
  Problems problems;
  for (const Omission& omission : recording.omissions) {
    if (!omission.lost) continue;
    problems.push_back({"recording", omission.what + " (" + std::to_string(omission.count) +
                                         "): what is lost cannot be run again"});
  }
  if (recording.calls.empty()) {
    problems.push_back({"recording", "holds no communication", Trouble::missing});
  }
  if (!problems.empty()) return problems;
  return recording.graph.empty() ? timed_program(recording) : graph_program(recording);
}

std::optional<std::vector<Nanoseconds>> measured_transfers(const RecordedProgram& program) {
  std::vector<Nanoseconds> out;
  for (const CallMeeting& meeting : program.meetings) {
    if (!meeting.transfer) return std::nullopt;
    out.push_back(*meeting.transfer);
  }
  return out;
}

}  // namespace headway

#include "simulate/recorded/again.hpp"

#include <algorithm>
#include <limits>

#include "simulate/recorded/programs.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

constexpr Nanoseconds kNotYet = std::numeric_limits<Nanoseconds>::min();

// Of files that lie about their times: 146 years are the most.
Nanoseconds plus(Nanoseconds a, Nanoseconds b) {
  constexpr Nanoseconds kMost = std::numeric_limits<Nanoseconds>::max() / 2;
  Nanoseconds sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? kMost : -kMost;
  return std::clamp(sum, -kMost, kMost);
}

class Again {
 public:
  Again(const RecordedProgram& program, const Recording& recording,
        std::span<const Nanoseconds> transfers)
      : program_(program), recording_(recording), transfers_(transfers) {
    const std::size_t count = program.items.size();
    out_.begins.assign(count, 0);
    out_.ends.assign(count, kNotYet);
    out_.met.assign(program.meetings.size(), kNotYet);
    arrived_.assign(program.meetings.size(), 0);
    left_.assign(count, 0);
    first_follower_.assign(count + 1, 0);
    for (const RecordedItem& item : program.items) {
      for (const RecordedNeed& need : item.needs) ++first_follower_[need.item + 1];
    }
    for (std::size_t i = 0; i < count; ++i) first_follower_[i + 1] += first_follower_[i];
    followers_.resize(first_follower_.back());
    std::vector<std::size_t> next(first_follower_.begin(), first_follower_.end() - 1);
    for (std::uint32_t i = 0; i < count; ++i) {
      left_[i] = static_cast<std::uint32_t>(program.items[i].needs.size());
      for (const RecordedNeed& need : program.items[i].needs) followers_[next[need.item]++] = i;
    }
  }

  Result<RunAgain> run() && {
    for (std::uint32_t i = 0; i < left_.size(); ++i) {
      if (left_[i] == 0) ready_.push_back(i);
    }
    std::size_t done = 0;
    while (!ready_.empty()) {
      const std::uint32_t item = ready_.back();
      ready_.pop_back();
      done += begin(item);
    }
    if (done < program_.items.size()) return stuck();
    return std::move(out_);
  }

 private:
  // How many items have ended with it.
  std::size_t begin(std::uint32_t at) {
    const RecordedItem& item = program_.items[at];
    Nanoseconds begin = item.release;
    for (const RecordedNeed& need : item.needs) {
      begin = std::max(begin, plus(out_.ends[need.item], need.lag));
    }
    out_.begins[at] = begin;
    if (item.meeting == RecordedItem::kAlone) {
      end(at, plus(begin, item.duration));
      return 1;
    }
    const CallMeeting& meeting = program_.meetings[item.meeting];
    Nanoseconds& met = out_.met[item.meeting];
    met = std::max(met, begin);
    if (++arrived_[item.meeting] < meeting.items.size()) return 0;
    const Nanoseconds done = plus(met, transfers_[item.meeting]);
    for (const std::uint32_t each : meeting.items) {
      end(each, std::max(out_.begins[each], plus(done, program_.items[each].leaves)));
    }
    return meeting.items.size();
  }

  void end(std::uint32_t at, Nanoseconds when) {
    out_.ends[at] = when;
    out_.time = std::max(out_.time, when);
    for (std::size_t i = first_follower_[at]; i < first_follower_[at + 1]; ++i) {
      if (--left_[followers_[i]] == 0) ready_.push_back(followers_[i]);
    }
  }

  // What an item that cannot begin waits for, back to a call that some ranks have come to.
  std::uint32_t blocked_by(std::uint32_t at) const {
    for (std::size_t steps = 0; steps < program_.items.size(); ++steps) {
      const auto& needs = program_.items[at].needs;
      const auto open = std::find_if(needs.begin(), needs.end(), [&](const RecordedNeed& need) {
        return out_.ends[need.item] == kNotYet;
      });
      if (open == needs.end()) return at;
      at = open->item;
    }
    return at;
  }
  std::string place_of(std::uint32_t item) const {
    const std::uint32_t meeting = program_.items[item].meeting;
    if (meeting == RecordedItem::kAlone) return "in a circle of nodes";
    const CallMeeting& of = program_.meetings[meeting];
    const auto at = static_cast<std::size_t>(std::find(of.items.begin(), of.items.end(), item) -
                                             of.items.begin());
    return "in " + shown_call(recording_, of.calls[at]);
  }

  Problems stuck() const {
    Problems out;
    constexpr std::size_t kMostShown = 8;
    const std::vector<std::string> names = rank_names(recording_);
    for (std::size_t m = 0; m < program_.meetings.size() && out.size() < kMostShown; ++m) {
      const CallMeeting& meeting = program_.meetings[m];
      if (arrived_[m] == 0 || arrived_[m] == meeting.items.size()) continue;
      const auto came = std::find_if(meeting.items.begin(), meeting.items.end(),
                                     [&](std::uint32_t item) { return left_[item] == 0; });
      const auto absent = std::find_if(meeting.items.begin(), meeting.items.end(),
                                       [&](std::uint32_t item) { return left_[item] != 0; });
      const auto rank = [&](std::uint32_t item) { return names[program_.items[item].rank] + " "; };
      out.push_back({"recording", "waits for ever: " + rank(*came) + place_of(*came) + " for " +
                                      rank(*absent) + "that waits " +
                                      place_of(blocked_by(*absent))});
    }
    if (out.empty()) {
      const auto first = static_cast<std::uint32_t>(
          std::find(out_.ends.begin(), out_.ends.end(), kNotYet) - out_.ends.begin());
      out.push_back({"recording", "waits for ever: nodes of " + names[program_.items[first].rank] +
                                      " wait for each other in a circle"});
    }
    return out;
  }

  const RecordedProgram& program_;
  const Recording& recording_;
  std::span<const Nanoseconds> transfers_;
  RunAgain out_;
  std::vector<std::size_t> arrived_, first_follower_;
  std::vector<std::uint32_t> left_, followers_, ready_;
};

}  // namespace

Result<RunAgain> run_again(const RecordedProgram& program, const Recording& recording,
                           std::span<const Nanoseconds> transfers) {
  return Again(program, recording, transfers).run();
}

}  // namespace headway

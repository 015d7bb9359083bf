// The program of a recording that says what waits for what.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "simulate/recorded/programs.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/analysis/pairs.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

constexpr double kLongestTask = 1e9;  // seconds

bool passes_between_two(Operation op) {
  return op == Operation::send || op == Operation::receive;
}

class GraphReader {
 public:
  explicit GraphReader(const Recording& recording)
      : recording_(recording), names_(rank_names(recording)) {
    item_of_call_.assign(recording.calls.size(), RecordedItem::kAlone);
  }

  Result<RecordedProgram> read() && {
    program_.of_graph = true;
    for (std::size_t i = 0; i < recording_.graph.size(); ++i) add(i);
    if (untimed_ > 0) {
      problems_.push_back({"recording",
                           std::to_string(untimed_) +
                               " nodes of computation have work and no duration: their time is "
                               "left to a model of the machine",
                           Trouble::missing});
    }
    meet_collectives();
    meet_transfers();
    if (!problems_.empty()) return problems_;
    if (timed_) program_.measured = last_ - first_;
    return std::move(program_);
  }

 private:
  void add(std::size_t at) {
    const RecordedNode& node = recording_.graph[at];
    RecordedItem item{.rank = node.rank};
    std::optional<Seconds> duration = node.duration;
    if (node.call) {
      item_of_call_[*node.call] = static_cast<std::uint32_t>(at);
      const RecordedCall& call = recording_.calls[*node.call];
      duration = call.duration;
      timed_ = timed_ && call.duration && node.start_ns;
    } else if (!duration) {
      ++untimed_;
    }
    const double seconds = duration ? std::min(duration->value(), kLongestTask) : 0;
    item.duration = std::llround(seconds * 1e9);
    for (const std::size_t need : node.needs) {
      item.needs.push_back({static_cast<std::uint32_t>(need), 0});
    }
    if (node.start_ns && std::abs(*node.start_ns) < (std::int64_t{1} << 61)) {
      first_ = std::min(first_, *node.start_ns);
      last_ = std::max(last_, *node.start_ns + item.duration);
    }
    program_.items.push_back(std::move(item));
  }

  void meet(const std::vector<std::size_t>& calls, bool complete) {
    CallMeeting meeting;
    meeting.complete = complete;
    for (const std::size_t call : calls) {
      const std::uint32_t item = item_of_call_[call];
      meeting.items.push_back(item);
      meeting.calls.push_back(call);
      program_.items[item].meeting = static_cast<std::uint32_t>(program_.meetings.size());
      if (!recording_.calls[call].duration) continue;
      const Nanoseconds taken = program_.items[item].duration;
      meeting.transfer = std::min(meeting.transfer.value_or(taken), taken);
    }
    if (!complete) program_.alone += static_cast<std::int64_t>(calls.size());
    program_.meetings.push_back(std::move(meeting));
  }

  // The n-th call of a group on each rank is the same; a call without a group is of all ranks.
  void meet_collectives() {
    std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::size_t>>> groups;
    for (std::size_t i = 0; i < recording_.calls.size(); ++i) {
      const RecordedCall& call = recording_.calls[i];
      if (passes_between_two(call.op)) continue;
      groups[call.group.value_or(kNoGroup)][call.rank].push_back(i);
    }
    for (const auto& [group, by_rank] : groups) {
      const auto& most = *std::max_element(
          by_rank.begin(), by_rank.end(),
          [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
      for (std::size_t i = 0; i < most.second.size(); ++i) {
        meet_in_order(group, by_rank, i, most.second[i]);
      }
    }
  }

  void meet_in_order(std::uint32_t group,
                     const std::map<std::uint32_t, std::vector<std::size_t>>& by_rank,
                     std::size_t number, std::size_t example) {
    std::vector<std::size_t> calls;
    std::vector<std::string> absent;
    for (const auto& [rank, list] : by_rank) {
      if (number >= list.size()) {
        absent.push_back(names_[rank]);
        continue;
      }
      const Operation op = recording_.calls[list[number]].op;
      if (op != recording_.calls[example].op) {
        deadlock(shown_call(recording_, example) + ", number " + std::to_string(number + 1) +
                 " on " + names_[recording_.calls[example].rank] + ", meets " +
                 std::string(to_name(op)) + " on " + names_[rank]);
        return;
      }
      calls.push_back(list[number]);
    }
    if (!absent.empty()) {
      constexpr std::size_t kShown = 4;
      const std::size_t more = absent.size() > kShown ? absent.size() - kShown : 0;
      absent.resize(absent.size() - more);
      deadlock(shown_call(recording_, example) + ", number " + std::to_string(number + 1) +
               ": waits for ever for " + join(absent, ", ") +
               (more > 0 ? " and " + std::to_string(more) + " more" : std::string()) +
               ", which make fewer calls of it");
      return;
    }
    const auto size =
        group == kNoGroup ? std::optional<std::int64_t>() : recording_.groups[group].size;
    meet(calls, !size || static_cast<std::int64_t>(calls.size()) >= *size);
  }

  void meet_transfers() {
    std::vector<bool> met(recording_.calls.size(), false);
    for (const auto& [ends, pair] : pair_calls(recording_)) {
      const std::size_t both = std::min(pair.sends.size(), pair.receives.size());
      for (std::size_t i = 0; i < both; ++i) {
        meet({pair.sends[i], pair.receives[i]}, true);
        met[pair.sends[i]] = met[pair.receives[i]] = true;
      }
      const bool recorded = is_recorded(ends.from) && is_recorded(ends.to);
      const std::size_t left = pair.sends.size() + pair.receives.size() - 2 * both;
      if (left > 0 && recorded) {
        const bool sends = pair.sends.size() > both;
        deadlock(std::to_string(left) + (sends ? " sends" : " receives") + " from rank " +
                 std::to_string(ends.from) + " to rank " + std::to_string(ends.to) + " have no " +
                 (sends ? "receive" : "send"));
      }
    }
    for (std::size_t i = 0; i < recording_.calls.size(); ++i) {
      if (passes_between_two(recording_.calls[i].op) && !met[i]) meet({i}, false);
    }
  }
  bool is_recorded(std::int64_t rank) const {
    return std::any_of(recording_.ranks.begin(), recording_.ranks.end(),
                       [&](const RecordedRank& each) { return each.number == rank; });
  }

  void deadlock(std::string what) {
    constexpr std::size_t kMostShown = 8;
    if (problems_.size() < kMostShown) problems_.push_back({"recording", std::move(what)});
  }

  const Recording& recording_;
  std::vector<std::string> names_;
  RecordedProgram program_;
  Problems problems_;
  std::vector<std::uint32_t> item_of_call_;
  std::int64_t untimed_ = 0;
  bool timed_ = true;
  std::int64_t first_ = std::int64_t{1} << 61, last_ = -(std::int64_t{1} << 61);
};

}  // namespace

std::string shown_call(const Recording& recording, std::size_t call) {
  const RecordedCall& each = recording.calls[call];
  std::string out(to_name(each.op));
  if (each.group) out += " of group " + printable(group_name(recording, each.group), 60);
  return out;
}

Result<RecordedProgram> graph_program(const Recording& recording) {
  return GraphReader(recording).read();
}

}  // namespace headway

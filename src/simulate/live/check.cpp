#include "simulate/live/check.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "step/program/group_ranks.hpp"

namespace headway {
namespace {

using Kind = LiveItem::Kind;

constexpr std::size_t kMostTold = 8;

// "call 3 of rank 1 (all_reduce of 4096 B)"
std::string shown(std::int64_t rank, std::size_t number, const LiveItem& call) {
  return "call " + std::to_string(number) + " of rank " + std::to_string(rank) + " (" +
         std::string(to_name(call.op)) + " of " + std::to_string(call.bytes) + " B)";
}

// Each item by itself.
class Places {
 public:
  explicit Places(const LiveList& list) : list_(list) {}

  Problems find() {
    for (std::size_t g = 0; g < list_.groups.size(); ++g) check_group(g);
    for (std::size_t r = 0; r < list_.ranks.size() && problems_.size() < kMostTold; ++r) {
      std::size_t calls = 0;
      for (const LiveItem& item : list_.ranks[r]) {
        if (item.kind == Kind::call) check_call(static_cast<std::int64_t>(r), calls++, item);
        if (item.kind == Kind::wait && item.awaited >= calls) {
          fail(static_cast<std::int64_t>(r),
               "waits for call " + std::to_string(item.awaited) + ", which does not come before");
        }
        const double time = item.time.value();
        if (item.kind == Kind::compute && !(time >= 0 && time < 1e9)) {
          fail(static_cast<std::int64_t>(r), "computes for no time that there is");
        }
      }
    }
    if (problems_.size() > kMostTold) problems_.resize(kMostTold);
    return std::move(problems_);
  }

 private:
  void fail(std::int64_t rank, const std::string& what) {
    problems_.push_back({"list", "rank " + std::to_string(rank) + " " + what});
  }
  void check_group(std::size_t g) {
    const auto& ranks = list_.groups[g].ranks;
    const auto world = static_cast<std::int64_t>(list_.ranks.size());
    const bool ascending = std::adjacent_find(ranks.begin(), ranks.end(),
                                              [](auto a, auto b) { return a >= b; }) == ranks.end();
    if (ranks.empty() || !ascending || ranks.front() < 0 || ranks.back() >= world) {
      problems_.push_back({"list", "group " + std::to_string(g) +
                                       " is not of ranks of the list in ascending order"});
    }
  }
  void check_call(std::int64_t rank, std::size_t number, const LiveItem& call) {
    const auto wrong = [&](const std::string& why) {
      problems_.push_back({"list", shown(rank, number, call) + " " + why});
    };
    if (call.group >= list_.groups.size()) return wrong("is of a group that is not there");
    const auto& ranks = list_.groups[call.group].ranks;
    if (!std::binary_search(ranks.begin(), ranks.end(), rank)) wrong("is of a group without it");
    if (!runs_live(call.op)) wrong("is no operation that can be run");
    if (call.bytes < 0) wrong("has less than no bytes");
    const bool beside = call.stream == kBesideStreams;
    if (!(beside && is_between_two(call.op)) &&
        (call.stream < 0 || call.stream >= kMostLiveStreams)) {
      wrong("is on no stream");
    }
    const auto count = static_cast<std::int64_t>(ranks.size());
    if (call.peer < 0 || call.peer >= count) {
      wrong("has an end outside of its group");
    } else if (is_between_two(call.op) && ranks[static_cast<std::size_t>(call.peer)] == rank) {
      wrong("is to itself");
    }
    for (const std::uint32_t other : call.after) {
      if (other >= number) wrong("is after one that does not come before");
    }
  }

  const LiveList& list_;
  Problems problems_;
};

// [LIVE-2] Ranks go on until each waits for another.
class AbstractMachine {
 public:
  explicit AbstractMachine(const LiveList& list) : list_(list), ranks_(list.ranks.size()) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for (const LiveItem& item : list.ranks[r]) {
        if (item.kind == Kind::call) ranks_[r].calls.push_back(&item);
      }
      ranks_[r].done.assign(ranks_[r].calls.size(), false);
      ready_.push_back(r);
    }
  }

  Problems run() {
    while (!ready_.empty() && problems_.size() < kMostTold) {
      const std::size_t rank = ready_.front();
      ready_.pop_front();
      ranks_[rank].queued = false;
      go_on(rank);
    }
    if (problems_.empty()) tell_waiting();
    return std::move(problems_);
  }

 private:
  struct Rank {
    std::vector<const LiveItem*> calls;
    std::vector<bool> done;
    std::size_t at = 0, called = 0;                         // item; calls handed over
    std::map<std::int32_t, std::deque<std::size_t>> queue;  // streams; a call beside has its own
    std::map<std::int32_t, bool> begun;                     // the first of them
    std::int32_t besides = kBesideStreams;
    bool queued = true;
  };
  struct Met {
    std::vector<std::pair<std::size_t, std::size_t>> who;  // rank, call
  };
  // Group, sender and receiver by their places, tag.
  using Ends = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;
  struct Pairs {
    std::deque<std::pair<std::size_t, std::size_t>> sends, receives;
  };

  void wake(std::size_t rank) {
    if (!std::exchange(ranks_[rank].queued, true)) ready_.push_back(rank);
  }

  void go_on(std::size_t r) {
    Rank& rank = ranks_[r];
    const auto& items = list_.ranks[r];
    begin_calls(r);
    while (rank.at < items.size()) {
      const LiveItem& item = items[rank.at];
      if (item.kind == Kind::wait && !rank.done[item.awaited]) return;
      ++rank.at;
      if (item.kind != Kind::call) continue;
      const std::int32_t stream = item.stream == kBesideStreams ? --rank.besides : item.stream;
      rank.queue[stream].push_back(rank.called++);
      begin_on(r, stream);
    }
  }

  void begin_calls(std::size_t r) {
    std::vector<std::int32_t> streams;
    for (const auto& [stream, queue] : ranks_[r].queue) streams.push_back(stream);
    for (const std::int32_t stream : streams) begin_on(r, stream);
  }
  void begin_on(std::size_t r, std::int32_t stream) {
    Rank& rank = ranks_[r];
    for (auto at = rank.queue.find(stream); at != rank.queue.end(); at = rank.queue.find(stream)) {
      const std::size_t number = at->second.front();
      if (rank.done[number]) {
        at->second.pop_front();
        rank.begun[stream] = false;
        if (at->second.empty()) {
          rank.queue.erase(at);
          rank.begun.erase(stream);
        }
        continue;
      }
      const auto& after = rank.calls[number]->after;
      if (rank.begun[stream] || std::any_of(after.begin(), after.end(), [&](std::uint32_t other) {
            return !rank.done[other];
          })) {
        return;
      }
      rank.begun[stream] = true;
      meet(r, number);
    }
  }

  void finish(std::size_t rank, std::size_t number) {
    ranks_[rank].done[number] = true;
    wake(rank);
  }
  void compare(std::pair<std::size_t, std::size_t> a, std::pair<std::size_t, std::size_t> b) {
    const LiveItem &one = *ranks_[a.first].calls[a.second], &two = *ranks_[b.first].calls[b.second];
    const bool pair = is_between_two(one.op);
    const bool same = one.bytes == two.bytes && one.type == two.type &&
                      (pair || one.op == two.op) && (!has_root(one.op) || one.peer == two.peer);
    if (same) return;
    problems_.push_back({"list", shown(static_cast<std::int64_t>(b.first), b.second, two) +
                                     " meets another one: " +
                                     shown(static_cast<std::int64_t>(a.first), a.second, one)});
  }

  void meet(std::size_t r, std::size_t number) {
    const LiveItem& call = *ranks_[r].calls[number];
    if (is_between_two(call.op)) return meet_pair(r, number, call);
    auto& meetings = meetings_[{call.group, call.stream}];
    std::size_t& mine = made_[{call.group, call.stream, r}];
    if (meetings.size() <= mine) meetings.resize(mine + 1);
    Met& met = meetings[mine++];
    met.who.emplace_back(r, number);
    if (met.who.size() > 1) compare(met.who.front(), met.who.back());
    if (met.who.size() != list_.groups[call.group].ranks.size()) return;
    for (const auto& [rank, its] : met.who) finish(rank, its);
    met.who.clear();
    met.who.shrink_to_fit();
  }
  void meet_pair(std::size_t r, std::size_t number, const LiveItem& call) {
    const auto& ranks = list_.groups[call.group].ranks;
    const std::int64_t own = place_in(ranks, static_cast<std::int64_t>(r));
    const bool sends = call.op == Operation::send;
    Pairs& pairs = pairs_[{call.group, sends ? own : call.peer, sends ? call.peer : own, call.tag}];
    auto &mine = sends ? pairs.sends : pairs.receives,
         &others = sends ? pairs.receives : pairs.sends;
    if (others.empty()) return mine.emplace_back(r, number), void();
    compare(others.front(), {r, number});
    finish(others.front().first, others.front().second);
    others.pop_front();
    finish(r, number);
  }

  void tell_waiting() {
    for (std::size_t r = 0; r < ranks_.size() && problems_.size() < kMostTold; ++r) {
      const Rank& rank = ranks_[r];
      const auto open = std::find(rank.done.begin(), rank.done.end(), false);
      if (rank.at == list_.ranks[r].size() && open == rank.done.end()) continue;
      const auto number = static_cast<std::size_t>(open - rank.done.begin());
      problems_.push_back(
          {"list", shown(static_cast<std::int64_t>(r), number, *rank.calls[number]) +
                       " never ends: the others of its group do not come to it"});
    }
  }

  const LiveList& list_;
  std::vector<Rank> ranks_;
  std::deque<std::size_t> ready_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<Met>> meetings_;
  std::map<std::tuple<std::uint32_t, std::int32_t, std::size_t>, std::size_t> made_;
  std::map<Ends, Pairs> pairs_;
  Problems problems_;
};

}  // namespace

Problems list_problems(const LiveList& list) {
  Problems problems = Places(list).find();
  return problems.empty() ? AbstractMachine(list).run() : problems;
}

}  // namespace headway

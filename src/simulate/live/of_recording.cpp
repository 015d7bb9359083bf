#include "simulate/live/of_recording.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "simulate/live/check.hpp"
#include "step/program/group_ranks.hpp"

namespace headway {
namespace {

// Clocks count from 1970 or from anywhere: less than 36 years.
constexpr std::int64_t kFarthest = std::int64_t{1} << 60;

bool is_far(std::int64_t ns) {
  return ns > kFarthest || ns < -kFarthest;
}

struct KernelTime {
  std::int64_t begin = 0, end = 0;
};

// Kernels as times in which at least one runs.
std::vector<KernelTime> joined(std::vector<KernelTime> all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<KernelTime> out;
  for (const KernelTime& each : all) {
    if (out.empty() || each.begin > out.back().end) {
      out.push_back(each);
    } else {
      out.back().end = std::max(out.back().end, each.end);
    }
  }
  return out;
}

class RecordedLists {
 public:
  explicit RecordedLists(const Recording& recording) : recording_(recording) {}

  Result<LiveList> read() {
    number_ranks();
    for (const RecordedCall& call : recording_.calls) count_unusable(call);
    for (const auto& [what, count] : unusable_) {
      fail(std::to_string(count) + " of its " + std::to_string(recording_.calls.size()) +
           " calls " + what);
    }
    for (const Omission& omission : recording_.omissions) {
      if (omission.lost) {
        fail(omission.what + " (" + std::to_string(omission.count) +
             "): what is lost cannot be run again");
      }
    }
    if (recording_.calls.empty()) fail("holds no communication");
    if (!problems_.empty()) return problems_;

    list_.source = recording_.format;
    list_.groups = groups_;
    list_.ranks.resize(order_.size());
    for (std::size_t i = 0; i < recording_.calls.size(); ++i) {
      by_rank_[place_of_[recording_.calls[i].rank]].push_back(i);
    }
    kernels_.resize(order_.size());
    for (const RecordedCompute& each : recording_.compute) {
      if (is_far(each.start_ns)) continue;
      const std::int64_t taken = std::clamp<std::int64_t>(each.duration_ns, 0, kFarthest);
      kernels_[place_of_[each.rank]].push_back({each.start_ns, each.start_ns + taken});
    }
    for (std::size_t rank = 0; rank < order_.size(); ++rank) add_rank(rank);
    if (!problems_.empty()) return problems_;
    if (count_items(list_) > kMostLiveItems) {
      fail("has more than " + std::to_string(kMostLiveItems) +
           " items: record fewer steps (headway record --steps)");
      return problems_;
    }
    for (const Problem& problem : list_problems(list_)) {
      fail("cannot be run again: " + problem.message);
    }
    if (!problems_.empty()) return problems_;
    return std::move(list_);
  }

 private:
  void fail(const std::string& what) { problems_.push_back({"recording", what}); }

  // The recorded ranks by number are 0, 1, ...: all of them are there.
  void number_ranks() {
    order_.resize(recording_.ranks.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::erase_if(order_, [&](std::size_t r) {
      const auto& number = recording_.ranks[r].number;
      return !number || *number < 0 || *number >= kMostLiveRanks;
    });
    if (order_.size() < recording_.ranks.size()) fail("does not number its ranks from 0 on");
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return *recording_.ranks[a].number < *recording_.ranks[b].number;
    });
    place_of_.assign(recording_.ranks.size(), 0);
    std::int64_t world = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const RecordedRank& rank = recording_.ranks[order_[i]];
      place_of_[order_[i]] = i;
      by_number_[*rank.number] = i;
      world = std::max({world, rank.world_size.value_or(0), *rank.number + 1});
    }
    if (world > static_cast<std::int64_t>(order_.size()) && problems_.empty()) {
      fail("is of " + std::to_string(order_.size()) + " of " + std::to_string(world) +
           " ranks: what the others did is not known; give the traces of all");
    }
    if (by_number_.size() < order_.size()) fail("has a rank twice");
    by_rank_.resize(order_.size());
    for (const RecordedGroup& group : recording_.groups) add_group(group, world);
  }
  void add_group(const RecordedGroup& group, std::int64_t world) {
    LiveGroup& made = groups_.emplace_back();
    made.name = group.description.empty() ? group.id : group.description;
    if (group.ranks.empty() && group.size == world) {
      made.ranks.resize(static_cast<std::size_t>(std::min(world, kMostLiveRanks)));
      std::iota(made.ranks.begin(), made.ranks.end(), std::int64_t{0});
    }
    for (const std::int64_t rank : group.ranks) {
      const auto known = by_number_.find(rank);
      if (known != by_number_.end()) made.ranks.push_back(static_cast<std::int64_t>(known->second));
    }
    std::sort(made.ranks.begin(), made.ranks.end());
  }

  void count_unusable(const RecordedCall& call) {
    const auto count = [&](const char* what) { ++unusable_[what]; };
    if (!call.start_ns) count("have no start, so that they have no order");
    if (call.start_ns && is_far(*call.start_ns)) count("have times that are years apart");
    if (!call.duration || call.time == TimeKind::none || call.time == TimeKind::enqueue) {
      count("have no time until they were done");
    }
    if (call.count != 1) count("stand for several");
    if (!call.bytes && call.op != Operation::barrier) count("have no size");
    if (!call.group || groups_[*call.group].ranks.empty())
      count("are of a group whose ranks are not said");
    if (!runs_live(done_op(call))) {
      count("are of operations that cannot be told (sends and receives in one, scans)");
    }
    if (is_between_two(done_op(call)) && !has_known_peer(call)) count("have no known other end");
    if (has_root(done_op(call)) && !has_known_peer(call)) {
      count("have no known root, which headway record would have");
    }
  }

  bool has_known_peer(const RecordedCall& call) const {
    const auto known = call.peer ? by_number_.find(*call.peer) : by_number_.end();
    if (known == by_number_.end() || !call.group) return false;
    const auto& ranks = groups_[*call.group].ranks;
    return std::binary_search(ranks.begin(), ranks.end(), static_cast<std::int64_t>(known->second));
  }

  // What happens on a rank, in time.
  struct Event {
    std::int64_t at = 0;
    bool ends = false;
    std::size_t call = 0;  // index into Recording::calls
  };

  void add_rank(std::size_t rank) {
    std::vector<Event> events;
    for (const std::size_t i : by_rank_[rank]) {
      const RecordedCall& call = recording_.calls[i];
      const double ns = std::min(call.duration->value() * 1e9, 1e15);
      events.push_back({*call.start_ns, false, i});
      events.push_back({*call.start_ns + std::llround(ns), true, i});
    }
    // What ends when something begins is done by then; a call without duration begins first.
    std::stable_sort(events.begin(), events.end(),
                     [&](const Event& a, const Event& b) { return a.at < b.at; });
    write_rank(rank, events, joined(std::move(kernels_[rank])));
  }

  void write_rank(std::size_t rank, const std::vector<Event>& events,
                  const std::vector<KernelTime>& kernels) {
    std::vector<LiveItem>& items = list_.ranks[rank];
    items.push_back({.kind = LiveItem::Kind::mark});
    std::map<std::size_t, std::uint32_t> number;
    std::int64_t running = 0, blocking = 0;
    std::uint32_t calls = 0;
    std::size_t kernel = 0;
    std::optional<std::int64_t> before;
    if (!kernels.empty() && !events.empty()) {
      before = std::min(kernels.front().begin, events.front().at);
    }
    const auto compute_until = [&](std::int64_t now) {
      if (before && now > *before) {
        const std::int64_t busy = common(kernels, kernel, *before, now);
        const bool free = running == 0 || (kernels.empty() && blocking == 0);
        const std::int64_t computed = free ? now - *before : busy;
        if (computed > 0) items.push_back({.time = Seconds(static_cast<double>(computed) * 1e-9)});
      }
      before = now;
    };
    for (const Event& event : events) {
      const RecordedCall& call = recording_.calls[event.call];
      compute_until(event.at);
      if (event.ends) {
        LiveItem item{.kind = LiveItem::Kind::wait};
        item.awaited = number.at(event.call);
        items.push_back(std::move(item));
      } else {
        number[event.call] = calls++;
        items.push_back(call_item(rank, call));
      }
      running += event.ends ? -1 : 1;
      if (call.blocks) blocking += event.ends ? -1 : 1;
    }
    if (!kernels.empty()) compute_until(std::max(before.value_or(0), kernels.back().end));
  }

  // Of [from, to] how long kernels ran; `at`: the first that does not end before.
  static std::int64_t common(const std::vector<KernelTime>& kernels, std::size_t& at,
                             std::int64_t from, std::int64_t to) {
    while (at < kernels.size() && kernels[at].end <= from) ++at;
    std::int64_t out = 0;
    for (std::size_t i = at; i < kernels.size() && kernels[i].begin < to; ++i) {
      out += std::max<std::int64_t>(
          0, std::min(to, kernels[i].end) - std::max(from, kernels[i].begin));
    }
    return out;
  }

  LiveItem call_item(std::size_t rank, const RecordedCall& call) {
    LiveItem item{.kind = LiveItem::Kind::call};
    item.op = done_op(call);
    item.group = *call.group;
    item.bytes = call.bytes ? std::llround(std::min(call.bytes->value(), 1e12)) : 0;
    item.type = call.type.value_or(ElementType::uint8);
    const auto& ranks = groups_[item.group].ranks;
    if (is_between_two(item.op) || has_root(item.op)) {
      item.peer = place_in(ranks, static_cast<std::int64_t>(by_number_.at(*call.peer)));
    }
    if (is_between_two(item.op)) {
      item.stream = kBesideStreams;
      item.tag = call.tag.value_or(0) & 0x7fffffff;
    } else {
      item.stream = stream_of_call(rank, call);
    }
    return item;
  }
  // Streams of ranks have numbers of their own: the first that a rank uses for a group is the first
  // of the others, too.
  std::int32_t stream_of_call(std::size_t rank, const RecordedCall& call) {
    auto& own = own_streams_[{rank, *call.group}];
    const auto which =
        own.try_emplace(call.stream.value_or(-1), static_cast<std::int32_t>(own.size()))
            .first->second;
    return streams_.try_emplace({*call.group, which}, static_cast<std::int32_t>(streams_.size()))
        .first->second;
  }

  const Recording& recording_;
  std::vector<std::size_t> order_, place_of_;  // recorded rank of each of the list, and back
  std::map<std::int64_t, std::size_t> by_number_;
  std::vector<LiveGroup> groups_;
  std::map<std::string, std::int64_t> unusable_;
  std::vector<std::vector<std::size_t>> by_rank_;
  std::vector<std::vector<KernelTime>> kernels_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::map<std::int64_t, std::int32_t>>
      own_streams_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::int32_t> streams_;
  LiveList list_;
  Problems problems_;
};

}  // namespace

Result<LiveList> list_of_recording(const Recording& recording) {
  return RecordedLists(recording).read();
}

}  // namespace headway

#include "plan.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

#include "simulate/live/check.hpp"

namespace headway::replay::nccl {
namespace {

using Kind = LiveItem::Kind;
// One message after another: of a group, from one rank to another.
struct Pair {
  std::uint32_t group;
  std::int64_t from, to;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};

Pair ends_of(const LiveList& list, std::size_t rank, const LiveItem& call) {
  const auto own = static_cast<std::int64_t>(rank);
  const std::int64_t other = list.groups[call.group].ranks[static_cast<std::size_t>(call.peer)];
  return call.op == Operation::send ? Pair{call.group, own, other} : Pair{call.group, other, own};
}

std::string text_of(const LiveItem& call) {
  return std::to_string(call.bytes) + " B of tag " + std::to_string(call.tag);
}

class Planner {
 public:
  explicit Planner(LiveList list) { plan_.list = std::move(list); }

  Result<NcclPlan> plan() {
    number_lanes();
    for (std::size_t r = 0; r < plan_.list.ranks.size(); ++r) assign(r);
    for (const auto& [pair, both] : messages_) compare(pair, both);
    if (!problems_.empty()) return problems_;
    for (const Problem& problem : list_problems(plan_.list)) {
      problems_.push_back({"list",
                           "cannot be run by NCCL, which runs the messages from one rank to "
                           "another in one order: " +
                               problem.message});
    }
    if (!problems_.empty()) return problems_;
    return std::move(plan_);
  }

 private:
  // In one order for all ranks, whatever each of them calls first.
  void number_lanes() {
    std::int32_t last = -1;
    const LiveList& list = plan_.list;
    for (std::size_t r = 0; r < list.ranks.size(); ++r) {
      for (const LiveItem& item : list.ranks[r]) {
        if (item.kind != Kind::call) continue;
        last = std::max(last, item.stream);
        if (is_between_two(item.op)) {
          pairs_.try_emplace(ends_of(list, r, item), 0);
        } else {
          groups_.try_emplace({item.group, item.stream}, 0);
        }
      }
    }
    for (auto& [key, lane] : groups_) lane = add(list.groups[key.first].ranks);
    for (auto& [pair, lane] : pairs_) {
      lane = add({std::min(pair.from, pair.to), std::max(pair.from, pair.to)});
    }
    first_beside_ = last + 1 - static_cast<std::int32_t>(groups_.size());
    if (first_beside_ + static_cast<std::int64_t>(plan_.lanes.size()) > kMostLiveStreams) {
      problems_.push_back({"list", "has messages between more ranks than there are streams"});
    }
  }
  std::uint32_t add(std::vector<std::int64_t> members) {
    plan_.lanes.push_back({std::move(members)});
    return static_cast<std::uint32_t>(plan_.lanes.size() - 1);
  }

  void assign(std::size_t r) {
    auto& lanes = plan_.lane_of.emplace_back();
    for (LiveItem& item : plan_.list.ranks[r]) {
      if (item.kind != Kind::call) continue;
      std::uint32_t lane = 0;
      if (is_between_two(item.op)) {
        const Pair pair = ends_of(plan_.list, r, item);
        lane = pairs_.at(pair);
        (item.op == Operation::send ? messages_[pair].first : messages_[pair].second)
            .push_back(&item);
        if (item.stream == kBesideStreams) {
          item.stream = first_beside_ + static_cast<std::int32_t>(lane);
        }
      } else {
        lane = groups_.at({item.group, item.stream});
      }
      Lane& of = plan_.lanes[lane];
      of.bytes =
          std::max(of.bytes, size_of(item, of.members.size()).whole * bytes_of_element(item.type));
      lanes.push_back(lane);
    }
  }

  using Messages = std::pair<std::vector<const LiveItem*>, std::vector<const LiveItem*>>;
  void compare(const Pair& pair, const Messages& both) {
    const auto& [sends, receives] = both;
    for (std::size_t i = 0; i < std::min(sends.size(), receives.size()); ++i) {
      if (sends[i]->tag == receives[i]->tag) continue;
      problems_.push_back(
          {"list", "rank " + std::to_string(pair.from) + " sends " + text_of(*sends[i]) +
                       " where rank " + std::to_string(pair.to) + " receives " +
                       text_of(*receives[i]) +
                       ": NCCL knows no tags, so that both ends need one order (--backend mpi "
                       "runs it)"});
      return;
    }
  }

  NcclPlan plan_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> groups_;
  std::map<Pair, std::uint32_t> pairs_;
  std::map<Pair, Messages> messages_;
  std::int32_t first_beside_ = 0;  // less the lanes of groups
  Problems problems_;
};

}  // namespace

NcclSize size_of(const LiveItem& call, std::size_t ranks) {
  const auto n = static_cast<std::int64_t>(ranks);
  const std::int64_t listed = elements_of(call), part = (listed + n - 1) / n;
  const bool in_parts = call.op == Operation::all_gather || call.op == Operation::reduce_scatter ||
                        call.op == Operation::all_to_all || call.op == Operation::gather ||
                        call.op == Operation::scatter;
  return {in_parts ? part * n : listed, part};
}

Result<NcclPlan> plan_of(LiveList list) {
  return Planner(std::move(list)).plan();
}

}  // namespace headway::replay::nccl

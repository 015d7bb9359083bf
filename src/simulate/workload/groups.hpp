// The groups of all ranks of a run, each once, in the order in which they are asked for.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "layout/run.hpp"
#include "simulate/workload/workload.hpp"
#include "step/program/group_ranks.hpp"

namespace headway {

class WorkloadGroups {
 public:
  explicit WorkloadGroups(const Run& run)
      : layout_(run.layout), node_(spans(run.layout, run.cluster).node.ranks) {}

  struct Named {
    Group group;
    std::vector<std::int64_t> ranks;
  };
  /// The number of the group that the rank belongs to, from 0 on.
  std::size_t of(Group group, std::int64_t rank) {
    std::vector<std::int64_t> ranks = group_ranks(layout_, group, rank, node_);
    const auto [at, is_new] = numbers_.try_emplace({group, ranks.front()}, groups_.size());
    if (is_new) groups_.push_back({group, std::move(ranks)});
    return at->second;
  }
  const std::vector<std::int64_t>& ranks(std::size_t number) const { return groups_[number].ranks; }
  const std::vector<Named>& all() const { return groups_; }

 private:
  const Layout& layout_;
  std::int64_t node_;
  std::map<std::pair<Group, std::int64_t>, std::size_t> numbers_;
  std::vector<Named> groups_;
};

/// Those of one rank, looked up once each.
class GroupsOfRank {
 public:
  GroupsOfRank(WorkloadGroups& groups, const Layout& layout, std::int64_t rank)
      : groups_(groups), layout_(layout), rank_(rank) {}

  std::size_t number(Group group) {
    auto& own = own_[static_cast<std::size_t>(group)];
    if (!own) own = groups_.of(group, rank_);
    return *own;
  }
  const std::vector<std::int64_t>& ranks(Group group) { return groups_.ranks(number(group)); }
  /// The rank at the other end of a send or receive.
  std::int64_t peer_of(const WorkloadNode& node) {
    if (node.group == Group::pp) return at_stage(layout_, rank_, node.peer);
    const std::vector<std::int64_t>& all = ranks(node.group);
    const auto count = static_cast<std::int64_t>(all.size());
    return all[static_cast<std::size_t>((place_in(all, rank_) + node.peer + count) % count)];
  }

 private:
  WorkloadGroups& groups_;
  const Layout& layout_;
  std::int64_t rank_;
  std::array<std::optional<std::size_t>, kGroups.size()> own_{};
};

}  // namespace headway

#include "step/program/group_ranks.hpp"

#include <algorithm>
#include <array>

namespace headway {
namespace {

using Coordinates = std::array<std::int64_t, kDimensionNames.size()>;

Coordinates coordinates_of(const Layout& layout, std::int64_t rank) {
  Coordinates out{};
  for (const Dimension d : layout.order) {
    out[static_cast<std::size_t>(d)] = rank / stride(layout, d) % degree(layout, d);
  }
  return out;
}

std::int64_t rank_at(const Layout& layout, const Coordinates& at) {
  std::int64_t rank = 0;
  for (const Dimension d : layout.order) {
    rank += at[static_cast<std::size_t>(d)] * stride(layout, d);
  }
  return rank;
}

// The ranks that differ from `rank` in these dimensions (bits) only, as they are numbered.
std::vector<std::int64_t> along(const Layout& layout, std::int64_t rank, std::uint8_t dimensions) {
  std::vector<Coordinates> points = {coordinates_of(layout, rank)};
  for (const Dimension d : layout.order) {
    if ((dimensions & bit(d)) == 0) continue;
    std::vector<Coordinates> more;
    for (Coordinates point : points) {
      for (std::int64_t i = 0; i < degree(layout, d); ++i) {
        point[static_cast<std::size_t>(d)] = i;
        more.push_back(point);
      }
    }
    points = std::move(more);
  }
  std::vector<std::int64_t> ranks;
  for (const Coordinates& point : points) ranks.push_back(rank_at(layout, point));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// Which places among the ranks along a group's dimensions are one group: of a block of `block`
// those `stride` apart.
struct Cut {
  std::int64_t stride, block;
};
Cut cut_of(const Layout& layout, Group group, std::int64_t ranks, std::int64_t node) {
  const std::int64_t replica = ranks_of_replica(layout);
  const std::int64_t shard = layout.shard > 0 ? layout.shard : replica;
  const std::int64_t experts = layout.etp * layout.ep;
  if (group == Group::dp) return {1, shard};
  if (group == Group::dp_replica) return {shard, replica};
  if (group == Group::dp_meeting) return {replica, ranks};
  if (group == Group::dp_secondary) return {1, std::max<std::int64_t>(1, layout.secondary)};
  if (group == Group::dp_node) return {1, node};
  if (group == Group::dp_nodes) return {node > 1 ? node : ranks, ranks};
  if (group == Group::ep) return {layout.etp, experts};
  if (group == Group::expert_dp) return {experts, ranks / replicas_of(layout)};
  return {1, ranks};
}

// Which of the replicas that meet seldom a rank belongs to.
std::int64_t replica_of(const Layout& layout, std::int64_t rank) {
  const auto ranks = along(layout, rank, row_of(Group::dp_meeting).along);
  return place_in(ranks, rank) / ranks_of_replica(layout);
}

}  // namespace

std::vector<std::int64_t> group_ranks(const Layout& layout, Group group, std::int64_t rank,
                                      std::int64_t node) {
  if (group == Group::copies) {
    if (layout.copies() == 1) return {rank};
    // The rank that holds the same two stages of both copies.
    const std::int64_t other = at_stage(layout, rank, layout.pp - 1 - stage_of(layout, rank));
    return {std::min(rank, other), std::max(rank, other)};
  }
  std::vector<std::int64_t> ranks = along(layout, rank, row_of(group).along);
  if (group == Group::world && replicas_of(layout) > 1) {  // no step has all of them
    const std::int64_t own = replica_of(layout, rank);
    std::erase_if(ranks, [&](std::int64_t other) { return replica_of(layout, other) != own; });
  }
  if (row_of(group).ends_alone && ranks.size() > 2) return {ranks.front(), ranks.back()};
  const auto count = static_cast<std::int64_t>(ranks.size());
  const std::int64_t place = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  const auto [stride, block] = cut_of(layout, group, count, node);
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool together = i % stride == place % stride && i / block == place / block;
    if (together) out.push_back(ranks[static_cast<std::size_t>(i)]);
  }
  return out;
}

std::int64_t stage_of(const Layout& layout, std::int64_t rank) {
  return coordinates_of(layout, rank)[static_cast<std::size_t>(Dimension::pp)];
}

std::int64_t at_stage(const Layout& layout, std::int64_t rank, std::int64_t stage) {
  Coordinates at = coordinates_of(layout, rank);
  at[static_cast<std::size_t>(Dimension::pp)] = stage;
  return rank_at(layout, at);
}

}  // namespace headway

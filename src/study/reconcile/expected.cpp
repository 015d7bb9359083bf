#include "study/reconcile/expected.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

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
  const std::int64_t shard = layout.shard > 0 ? layout.shard : layout.dp * layout.cp;
  const std::int64_t experts = layout.etp * layout.ep;
  if (group == Group::dp) return {1, shard};
  if (group == Group::dp_replica) return {shard, ranks};
  if (group == Group::dp_secondary) return {1, std::max<std::int64_t>(1, layout.secondary)};
  if (group == Group::dp_node) return {1, node};
  if (group == Group::dp_nodes) return {node > 1 ? node : ranks, ranks};
  if (group == Group::ep) return {layout.etp, experts};
  if (group == Group::expert_dp) return {experts, ranks};
  return {1, ranks};
}

// Which groups the step calls.
using GroupFlags = std::array<bool, kGroups.size()>;
GroupFlags called_groups(const Step& step) {
  GroupFlags called{};
  const auto note = [&](const std::vector<Item>& items) {
    for (const Call& call : only<Call>(items)) called[static_cast<std::size_t>(call.group)] = true;
  };
  for (const Block& block : step.blocks) note(block.items);
  for (const StageClass& stage : step.stages) note(stage.items);
  return called;
}

// The rank that holds the same two stages of both copies.
std::int64_t mirrored(const Layout& layout, std::int64_t rank) {
  Coordinates at = coordinates_of(layout, rank);
  std::int64_t& stage = at[static_cast<std::size_t>(Dimension::pp)];
  stage = layout.pp - 1 - stage;
  return rank_at(layout, at);
}

}  // namespace

std::vector<std::int64_t> group_ranks(const Layout& layout, Group group, std::int64_t rank,
                                      std::int64_t node) {
  if (group == Group::copies) {
    if (layout.copies() == 1) return {rank};
    const std::int64_t other = mirrored(layout, rank);
    return {std::min(rank, other), std::max(rank, other)};
  }
  const std::vector<std::int64_t> ranks = along(layout, rank, row_of(group).along);
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

std::int64_t exchanging_on_node(const Step& step) {
  const bool exchanges = called_groups(step)[static_cast<std::size_t>(Group::dp_node)];
  return exchanges ? step.spans.node.ranks : 1;
}

std::vector<Lane> lanes_of(const Layout& layout, const Step& step) {
  const GroupFlags called = called_groups(step);
  const std::int64_t node = exchanging_on_node(step);
  std::vector<Lane> lanes;
  for (const GroupRow& row : kGroups) {
    std::vector<std::int64_t> ranks = group_ranks(layout, row.group, 0, node);
    if (ranks.size() < 2) continue;
    const auto same = std::find_if(lanes.begin(), lanes.end(),
                                   [&](const Lane& lane) { return lane.first == ranks; });
    if (same != lanes.end()) {
      same->groups.push_back(row.group);
    } else {
      lanes.push_back({{row.group}, {}, std::move(ranks)});
    }
  }
  for (Lane& lane : lanes) {
    for (const Group group : lane.groups) {
      if (called[static_cast<std::size_t>(group)]) lane.used.push_back(group);
    }
    if (lane.used.empty()) lane.used.push_back(lane.groups.front());
  }
  return lanes;
}

std::vector<std::vector<ExpectedKind>> expected_kinds(const Step& step, const Prices& prices,
                                                      const std::vector<Lane>& lanes) {
  std::vector<std::vector<ExpectedKind>> out;
  for (const StageClass& stage : step.stages) {
    std::map<std::tuple<std::size_t, CollectiveOp, double>, ExpectedKind> kinds;
    const auto add = [&](const Call& call, double times) {
      if (!(call.count * times > 0) || !(call.bytes.value() > 0)) return;
      const auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& candidate) {
        return std::find(candidate.groups.begin(), candidate.groups.end(), call.group) !=
               candidate.groups.end();
      });
      if (lane == lanes.end()) return;  // of one rank
      const auto index = static_cast<std::size_t>(lane - lanes.begin());
      // Falling sizes: the map sorts by their negative.
      const auto [kind, made] = kinds.try_emplace({index, call.op, -call.bytes.value()});
      if (made) {
        kind->second = {.lane = index,
                        .op = call.op,
                        .bytes = call.bytes,
                        .each = call_time(call, prices),
                        .phase = call.phase,
                        .choices = call.choices,
                        .routed = call.group == Group::ep};
      }
      kind->second.count += call.count * times;
    };
    const double micro = static_cast<double>(step.micro_batches);
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      for (const Call& call : only<Call>(step.blocks[i].items)) {
        add(call, micro * static_cast<double>(stage.counts[i]) * stage.share);
      }
    }
    for (const Call& call : only<Call>(stage.items)) add(call, 1);
    std::vector<ExpectedKind> list;
    for (const auto& [key, kind] : kinds) list.push_back(kind);
    out.push_back(std::move(list));
  }
  return out;
}

}  // namespace headway

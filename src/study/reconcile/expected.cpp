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

// The ranks that differ from `rank` in the dimensions given only, as they are numbered.
std::vector<std::int64_t> along(const Layout& layout, std::int64_t rank,
                                std::initializer_list<Dimension> dimensions) {
  std::vector<Coordinates> points = {coordinates_of(layout, rank)};
  for (const Dimension d : dimensions) {
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

// Of `ranks` those whose place shares the value of `part` with that of `rank`.
template <class Part>
std::vector<std::int64_t> sharing(const std::vector<std::int64_t>& ranks, std::int64_t rank,
                                  Part part) {
  const std::int64_t place = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (part(static_cast<std::int64_t>(i)) == part(place)) out.push_back(ranks[i]);
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> group_ranks(const Layout& layout, Group group, std::int64_t rank) {
  const auto replicas = [&] { return along(layout, rank, {Dimension::cp, Dimension::dp}); };
  const auto stage = [&] {
    return along(layout, rank, {Dimension::tp, Dimension::cp, Dimension::dp});
  };
  const std::int64_t shard = layout.shard > 0 ? layout.shard : layout.dp * layout.cp;
  switch (group) {
    case Group::tp:
      return along(layout, rank, {Dimension::tp});
    case Group::cp:
      return along(layout, rank, {Dimension::cp});
    case Group::pp:
      return along(layout, rank, {Dimension::pp});
    case Group::dp:
      return sharing(replicas(), rank, [&](std::int64_t place) { return place / shard; });
    case Group::dp_replica:
      return sharing(replicas(), rank, [&](std::int64_t place) { return place % shard; });
    case Group::ep:
      return sharing(stage(), rank, [&](std::int64_t place) {
        return std::pair(place % layout.etp, place / (layout.etp * layout.ep));
      });
    case Group::expert_dp:
      return sharing(stage(), rank,
                     [&](std::int64_t place) { return place % (layout.etp * layout.ep); });
    case Group::embedding: {
      const auto stages = along(layout, rank, {Dimension::pp});
      if (stages.size() < 2) return stages;
      return {std::min(stages.front(), stages.back()), std::max(stages.front(), stages.back())};
    }
    case Group::model:
      return along(layout, rank, {Dimension::tp, Dimension::pp});
    case Group::world:
      return along(layout, rank, {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp});
  }
  return {rank};
}

std::int64_t stage_of(const Layout& layout, std::int64_t rank) {
  return coordinates_of(layout, rank)[static_cast<std::size_t>(Dimension::pp)];
}

std::vector<Lane> lanes_of(const Layout& layout, const Step& step) {
  std::vector<Lane> lanes;
  for (std::size_t g = 0; g < kGroupNames.size(); ++g) {
    const auto group = static_cast<Group>(g);
    std::vector<std::int64_t> ranks = group_ranks(layout, group, 0);
    if (ranks.size() < 2) continue;
    const auto same = std::find_if(lanes.begin(), lanes.end(),
                                   [&](const Lane& lane) { return lane.first == ranks; });
    if (same != lanes.end()) {
      same->groups.push_back(group);
    } else {
      lanes.push_back({{group}, {}, std::move(ranks)});
    }
  }
  std::array<bool, kGroupNames.size()> called{};
  const auto note = [&](const std::vector<Call>& calls) {
    for (const Call& call : calls) called[static_cast<std::size_t>(call.group)] = true;
  };
  for (const Block& block : step.blocks) note(block.calls);
  for (const StageClass& stage : step.stages) note(stage.calls);
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
      for (const Call& call : step.blocks[i].calls) {
        add(call, micro * static_cast<double>(stage.counts[i]));
      }
    }
    for (const Call& call : stage.calls) add(call, 1);
    std::vector<ExpectedKind> list;
    for (const auto& [key, kind] : kinds) list.push_back(kind);
    out.push_back(std::move(list));
  }
  return out;
}

}  // namespace headway

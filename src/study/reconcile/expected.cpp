#include "study/reconcile/expected.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace headway {
namespace {

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

}  // namespace

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

// The one table of the groups of ranks that communicate in a step.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "layout/layout.hpp"

namespace headway {

/// Where the time of a step goes: computation, exposed communication by kind of parallelism, idle
/// time in the pipeline, the update, and the rest; in the order in which they are told.
enum class Part : std::uint8_t { compute, tp, cp, ep, pp, dp, bubble, optimizer, other };

/// dp_replica: across the sharding groups of hybrid sharding; dp_secondary: the ranks of dp that
/// share a second copy of the weights; dp_node, dp_nodes: those on one node, and those at the same
/// place of their nodes; expert_dp: the ranks that hold the
/// same experts; copies: the two ranks that hold the same stages of two copies of the model;
/// embedding: first and last stage where they share the embedding's weights; model:
/// the ranks that together hold one copy of the model, tp·pp; world: all ranks of the run;
/// dp_meeting: the ranks at the same place of all replicas that meet seldom.
enum class Group : std::uint8_t {
  tp,
  cp,
  ep,
  pp,
  dp,
  expert_dp,
  dp_replica,
  dp_secondary,
  dp_node,
  dp_nodes,
  copies,
  embedding,
  model,
  world,
  dp_meeting
};

struct GroupRow {
  Group group;
  std::string_view name;
  Part part;                // what of a step its exposed time is
  GroupSpan Spans::*span;   // where it lies on the levels
  std::uint8_t along;       // the dimensions in which its ranks may differ
  bool ends_alone = false;  // of these ranks the first and the last
};

constexpr std::uint8_t bit(Dimension dimension) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(dimension));
}

constexpr std::array<GroupRow, 15> kGroups = [] {
  constexpr std::uint8_t tp = bit(Dimension::tp), cp = bit(Dimension::cp), dp = bit(Dimension::dp),
                         pp = bit(Dimension::pp);
  return std::array<GroupRow, 15>{{
      {Group::tp, "tp", Part::tp, &Spans::tp, tp},
      {Group::cp, "cp", Part::cp, &Spans::cp, cp},
      {Group::ep, "ep", Part::ep, &Spans::ep, tp | cp | dp},
      {Group::pp, "pp", Part::pp, &Spans::pp, pp},
      {Group::dp, "dp", Part::dp, &Spans::shard, cp | dp},
      {Group::expert_dp, "expert_dp", Part::dp, &Spans::expert_dp, tp | cp | dp},
      {Group::dp_replica, "dp_replica", Part::dp, &Spans::replica, cp | dp},
      {Group::dp_secondary, "dp_secondary", Part::dp, &Spans::secondary, cp | dp},
      {Group::dp_node, "dp_node", Part::dp, &Spans::node, cp | dp},
      {Group::dp_nodes, "dp_nodes", Part::dp, &Spans::nodes, cp | dp},
      {Group::copies, "copies", Part::dp, &Spans::copies, pp},
      {Group::embedding, "embedding", Part::dp, &Spans::pp, pp, true},
      {Group::model, "model", Part::dp, &Spans::model, tp | pp},
      {Group::world, "world", Part::dp, &Spans::world, tp | cp | dp | pp},
      {Group::dp_meeting, "dp_meeting", Part::dp, &Spans::meeting, cp | dp},
  }};
}();

constexpr const GroupRow& row_of(Group group) {
  return kGroups[static_cast<std::size_t>(group)];
}
constexpr std::string_view to_name(Group group) {
  return row_of(group).name;
}
constexpr const GroupSpan& span_of_group(const Spans& spans, Group group) {
  return spans.*row_of(group).span;
}

constexpr bool groups_stand_in_order() {
  for (std::size_t i = 0; i < kGroups.size(); ++i) {
    if (kGroups[i].group != static_cast<Group>(i)) return false;
  }
  return true;
}
static_assert(groups_stand_in_order());

}  // namespace headway

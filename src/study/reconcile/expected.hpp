// What the layout expects of one rank, in the terms in which calls are reconciled. Internal to
// src/study.
#pragma once

#include <cstdint>
#include <vector>

#include "step/program/group_ranks.hpp"
#include "study/reconcile/reconcile.hpp"

namespace headway {

/// Groups of a layout that hold the same ranks.
struct Lane {
  std::vector<Group> groups;
  std::vector<Group> used;          // of them, those that the step calls; the first if none
  std::vector<std::int64_t> first;  // the ranks of the one that holds rank 0
};

/// Calls of one operation and size in one lane, of one rank in one step.
struct ExpectedKind {
  std::size_t lane = 0;
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes bytes;
  double count = 0;
  Seconds each;
  Phase phase = Phase::gradient;
  double choices = 1;
  bool routed = false;  // an exchange with experts: its size varies from call to call
};

/// Replicas on one node, where the step exchanges within nodes; else 1.
std::int64_t exchanging_on_node(const Step& step);

/// The groups of more than one rank.
std::vector<Lane> lanes_of(const Layout& layout, const Step& step);

/// Calls of a rank of each stage class of the step, by lane, operation, falling size.
std::vector<std::vector<ExpectedKind>> expected_kinds(const Step& step, const Prices& prices,
                                                      const std::vector<Lane>& lanes);

}  // namespace headway

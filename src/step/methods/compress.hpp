// What is exchanged travels compressed: what it comes to on the wire, which calls carry it, and the
// kernels that make and unmake it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "method/method.hpp"
#include "step/program/program.hpp"

namespace headway {

/// The groups over which gradients are added in every step.
constexpr std::array<Group, 3> kGradientGroups = {Group::dp, Group::expert_dp, Group::dp_replica};

/// Whether the call adds up or exchanges gradients of ranks that hold the same weights.
bool carries_gradients(const Call& call);
bool sends_gradients(const StageClass& stage);

/// What is compressed: the calls of these groups in the phase of gradients.
struct Compressed {
  const Model& model;
  const Job& job;
  const std::vector<Block>& blocks;
  const Spans& spans;
  Precision products;  // in which factors are multiplied
  std::span<const Group> groups = kGradientGroups;
  double times = 1;  // a step
};

/// [SIM-52] Changes those calls, and puts the kernels before and behind them. Why it cannot; empty:
/// it did.
std::string compress(StageClass& stage, const Compressed& of, const Compression& compression);

}  // namespace headway

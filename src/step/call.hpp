// The vocabulary of communication: one call and the words for it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/quantity.hpp"
#include "cluster/precision.hpp"
#include "layout/placement.hpp"
#include "step/collectives.hpp"

namespace headway {

/// dp_replica: across the sharding groups of hybrid sharding; expert_dp: the ranks that hold the
/// same experts; embedding: first and last stage where they share the embedding's weights; model:
/// the ranks that together hold one copy of the model, tp·pp; world: all ranks of the run.
enum class Group : std::uint8_t {
  tp,
  cp,
  ep,
  pp,
  dp,
  expert_dp,
  dp_replica,
  embedding,
  model,
  world
};
constexpr std::array<std::string_view, 10> kGroupNames = {
    "tp", "cp", "ep", "pp", "dp", "expert_dp", "dp_replica", "embedding", "model", "world"};
constexpr std::string_view to_name(Group group) {
  return kGroupNames[static_cast<int>(group)];
}

enum class Phase : std::uint8_t { forward, backward, recompute, gradient, optimizer, pipeline };
constexpr std::array<std::string_view, 6> kPhaseNames = {"forward",  "backward",  "recompute",
                                                         "gradient", "optimizer", "pipeline"};
constexpr std::string_view to_name(Phase phase) {
  return kPhaseNames[static_cast<int>(phase)];
}

/// The kinds of layer of a network that calls serve. other: none of them alone, as sends between
/// stages. What carries weights or gradients of several kinds in one message serves each by its
/// share of them: layer, of one layer; ends, of embedding and head; stage, of all blocks of a
/// stage.
enum class Module : std::uint8_t {
  attention,
  feed_forward,
  experts,
  embedding,
  head,
  other,
  layer,
  ends,
  stage
};
/// Those without the shared ones.
constexpr std::array<std::string_view, 6> kModuleNames = {"attention", "feed_forward", "experts",
                                                          "embedding", "head",         "other"};
constexpr std::string_view to_name(Module module) {
  return kModuleNames[static_cast<int>(module)];
}

/// What computation, if any, can hide a call.
enum class HiddenBy : std::uint8_t { nothing, same_block, next_block, backward, forward, pipeline };

/// One kind of communication call that a rank issues `count` times.
struct Call {
  CollectiveOp op;
  Group group;
  Phase phase;
  HiddenBy hidden_by = HiddenBy::nothing;
  Precision dtype;
  /// The whole logical tensor, as nccl-tests counts sizes: the buffer of an all-reduce or
  /// broadcast, the gathered result of an all-gather, the input of a reduce-scatter, what one rank
  /// sends in all in an all-to-all, the message of a send.
  Bytes bytes;
  double count = 1;
  /// All-to-all of tokens that go to this many ranks drawn at random, sent once to each domain that
  /// holds some of them; 1: every message its own way.
  double choices = 1;
  Module module = Module::other;
};

/// Domains of `domains` that hold at least one of `choices` ranks drawn at random.
inline double distinct(double domains, double choices) {
  return domains * (1 - std::pow(1 - 1 / domains, choices));
}

}  // namespace headway

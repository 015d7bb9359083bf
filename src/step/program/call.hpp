// The vocabulary of communication: one call and the words for it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/quantity.hpp"
#include "cluster/precision.hpp"
#include "step/program/collectives.hpp"
#include "step/program/groups.hpp"

namespace headway {

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

/// What computation, if any, can hide a call: of the same block beside it, or piece by piece the
/// product that it belongs to; of the next block; of another micro-batch; a whole pass of the
/// stage; what a pipeline runs meanwhile; the steps that follow.
enum class HiddenBy : std::uint8_t {
  nothing,
  same_block,
  next_block,
  backward,
  forward,
  pipeline,
  pieces,
  other_batch,
  next_steps
};
constexpr std::array<std::string_view, 9> kHiddenByNames = {
    "nothing",  "same_block", "next_block",  "backward",  "forward",
    "pipeline", "pieces",     "other_batch", "next_steps"};
constexpr std::string_view to_name(HiddenBy hidden_by) {
  return kHiddenByNames[static_cast<int>(hidden_by)];
}

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
  double count = 1;  // below 1: of what comes once in several steps
  /// All-to-all of tokens that go to this many ranks drawn at random, sent once to each domain that
  /// holds some of them; 1: every message its own way.
  double choices = 1;
  Module module = Module::other;
  /// Hidden by the steps that follow: of all time, the share in which one may be under way.
  double room = 0;
};

/// Whether two ranks of the group take part in it, not all of them.
constexpr bool is_of_two(const Call& call) {
  return call.op == CollectiveOp::send_receive || row_of(call.group).ends_alone;
}

}  // namespace headway

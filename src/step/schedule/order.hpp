// The order in which the ranks of a pipeline run their micro-batches, without times [STEP-24].
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "layout/layout.hpp"

namespace headway {

/// What a rank computes of one micro-batch in one of its chunks. backward: both gradients at once;
/// input_gradient and weight_gradient: each by itself, the second whenever there is time.
enum class SlotWork : std::uint8_t { forward, backward, input_gradient, weight_gradient };
constexpr std::array<std::string_view, 4> kSlotWorkNames = {"forward", "backward", "input-gradient",
                                                            "weight-gradient"};

/// One place in a rank's order. In every schedule here the micro-batches of a chunk come to a kind
/// of work one after another, so that a slot needs no number.
struct Slot {
  SlotWork work = SlotWork::forward;
  std::uint8_t chunk = 0;  // of the rank
  bool joined = false;     // runs together with the slot before it: forward of one micro-batch
                           // under the backward pass of another
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// Slots [begin, end) of an order, again and again.
struct SlotRun {
  std::size_t begin = 0, end = 0;
  std::int64_t times = 1;
  bool steady = false;  // of more micro-batches it alone is longer; one at most in an order
};

struct RankOrder {
  std::vector<Slot> slots;
  std::vector<SlotRun> runs;

  /// Adds a run; nothing where it runs at most 0 times.
  void add(std::initializer_list<Slot> block, std::int64_t times = 1, bool steady = false);
  void add(const std::vector<Slot>& block, std::int64_t times = 1, bool steady = false);
};

/// What an order follows from.
struct Pipeline {
  Schedule schedule = Schedule::one_f_one_b;
  std::int64_t ranks = 1;
  std::int64_t virtual_stages = 1;  // where the schedule takes them
  std::int64_t micro_batches = 1;
  // Stages with losses of their own: nothing comes back, and what comes from the stage before came
  // in steps past [METHOD-2].
  Losses losses = Losses::model;
  bool forward_only = false;  // nothing goes back at all [METHOD-4]

  /// Chunks of layers on each rank.
  std::int64_t chunks() const;
  /// Copies of the model: 2 where micro-batches enter at both ends of the pipeline, half at each.
  std::int64_t copies() const;
  /// Chunks that a micro-batch goes through.
  std::int64_t stages() const { return ranks * chunks() / copies(); }
  /// Micro-batches that go through a copy of the model.
  std::int64_t micro_batches_of_copy() const { return micro_batches / copies(); }
  /// The place of a rank's chunk in its copy of the model: 0 has the first layers.
  std::int64_t stage(std::int64_t rank, std::int64_t chunk) const;
};

/// Of a layout with pp > 1.
Pipeline pipeline_of(const Layout& layout, std::int64_t micro_batches);

/// A chunk of a rank; copies of the model have chunks of their own.
struct ChunkOfRank {
  std::int64_t rank = 0, chunk = 0;
};
/// Where a copy's stage is.
ChunkOfRank holder(const Pipeline& pipeline, std::int64_t copy, std::int64_t stage);

/// Who needs what a slot has made, and whether it is a gradient there: at the end of the model the
/// way back begins. Nothing of the first stage's backward slots and of gradients of weights.
struct Handoff {
  ChunkOfRank to;
  bool is_gradient = false;
};
std::optional<Handoff> handoff(const Pipeline& pipeline, std::int64_t rank, const Slot& slot);

/// What a rank runs. Its slots beyond the pipeline's micro-batches are of micro-batches that are
/// absent (ZB-V of fewer than 2p - 1, which runs as that many), and take no time. Legal pipelines
/// alone (check() found nothing): of two copies an even number of ranks; DualPipe at least 2p
/// micro-batches, an even number of them, DualPipeV 2p, Chimera a multiple of p.
RankOrder rank_order(const Pipeline& pipeline, std::int64_t rank);

/// The slots of an order one by one.
std::vector<Slot> unrolled(const RankOrder& order);

}  // namespace headway

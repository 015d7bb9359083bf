// From priced blocks and stages to the parts of a step. What is priced is kept apart from what puts
// it together, so that a search over layouts prices once what many of them share.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "forecast/pipeline_time.hpp"
#include "forecast/price.hpp"
#include "step/step.hpp"

namespace headway {

/// A call that a stage makes once a step, or a transfer between stages, with its price.
struct StageCall {
  PricedCall priced;       // what of it is exposed is not known yet
  Seconds check;           // what the hosts need to check one of them [FORECAST-16]
  bool outermost = false;  // of calls of one kind under the backward pass the last, under the
                           // forward pass the first: nothing runs beyond it
};

/// The calls of Phase::pipeline of a stage, in their order.
std::vector<StageCall> priced_transfers(const StageClass& stage, const Prices& prices);

/// All else that a stage does once a step.
struct PricedUpdate {
  std::vector<StageCall> calls;
  Seconds optimizer;  // where it is not offloaded
  Seconds coding;     // kernels that compress what is exchanged
};
PricedUpdate priced_update(const StageClass& stage, const Prices& prices);

/// [FORECAST-9] By how much the hosts of a stage are ahead of one micro-batch's kernels and calls,
/// and what its messages (a send of one side is a receive of the other) take of them beyond that.
struct HostAhead {
  Seconds forward, backward;
};
HostAhead host_ahead(const StageClass& stage, const std::vector<PricedBlock>& blocks);
/// `sends` of a micro-batch in both directions, `exposed` what the device waits for them.
HostAhead message_excess(const HostAhead& ahead, double sends, Seconds exposed,
                         const Prices& prices);

/// What a rank holds, and how it meets the accelerator's memory: live tensors must fit, with the
/// gaps between them they may not [FORECAST-15].
struct HeldMemory {
  Memory held{}, first{};  // of the rank that holds most, of rank 0
  Bytes gaps{};            // of `held`
  bool fits = false, at_limit = false;
  Bytes live() const { return held.total() - gaps; }  // what must fit
};
HeldMemory held_memory(const MostHeld& most, const Job& job, const Cluster& cluster,
                       const Calibration& calibration);

/// [FORECAST-10] What waiting for the slowest of so many ranks adds to a step, as a share of it.
double straggling(const SharedConstants& constants, std::int64_t ranks);
/// [METHOD-5] The same where replicas wait for each other as the job's method has it.
double straggling(const SharedConstants& constants, const Job& job, const Layout& layout);

/// [METHOD-1] What runs beside the steps that follow: exposed is what is longer than the room that
/// a step of `parts` has for it, and kernels beside it are slower. Of the calls, what of them is
/// exposed.
struct BesideSteps {
  Seconds exposed, slower;
  std::vector<Seconds> of_calls{};  // of PricedUpdate::calls
};
BesideSteps beside_steps(const PricedUpdate& update, Seconds step, const Prices& prices);

// What a step has once, however its micro-batches were put together.

/// The update of a rank's weights; of states that lie in the host's memory [FORECAST-7].
Seconds update_time(const PricedUpdate& update, const MostHeld& held, const Prices& prices);
/// [FORECAST-15] Gaps between live tensors make the allocator run out: it gives its cache back, and
/// takes it anew.
Seconds reclaiming_time(double micro_batches, const Prices& prices);
/// [FORECAST-10] Once a step, and what grows with the number of ranks: the slowest of them sets the
/// pace: by the share `waiting` of the step where that is given. Then all of it as own runs had it
/// [OWN-1].
void add_rest(Parts& parts, const Prices& prices, std::optional<double> waiting = {});

/// The passes that put a step together, called in the order in which they stand here. Where `calls`
/// is not null the calls of the stage that sets the pace go there, with what of them is exposed
/// (those of blocks are the caller's). `times` is a buffer: its room is used again.
class Assembly {
 public:
  Assembly(const std::vector<StageClass>& stages, const std::vector<PricedBlock>& blocks,
           std::int64_t micro_batches, const Prices& prices, std::vector<StageTime>& times,
           std::vector<PricedCall>* calls = nullptr)
      : stages_(stages),
        blocks_(blocks),
        micro_batches_(static_cast<double>(micro_batches)),
        prices_(prices),
        times_(times),
        calls_(calls),
        placed_(places_slots(prices.layout, micro_batches, !stages.front().chunks.empty())) {
    times_.clear();
  }

  /// Every stage's time for one micro-batch, and which stage sets the pace. `transfers(i)` are
  /// those of the i-th class of stages.
  template <class Transfers>
  void time_stages(const Transfers& transfers) {
    std::array<BlockTime, kMostBlocks> blocks;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const PricedBlock& block = blocks_[i];
      blocks[i] = {block.forward.total(), block.recompute.total() + block.backward.total(),
                   block.weight_gradient};
    }
    for (std::size_t i = 0; i < stages_.size(); ++i) add_stage(stages_[i], blocks, transfers(i));
    pace_ = slowest(times_);
  }
  std::size_t pace() const { return pace_; }
  /// What follows is of this stage instead.
  void look_at(std::size_t stage) { pace_ = stage; }

  /// The micro-batches of the stage that sets the pace.
  void run_micro_batches();
  /// Transfers between stages, and the time that the stage waits for the others.
  void run_pipeline(const std::vector<StageCall>& transfers);
  /// Gradients reduced under the last micro-batch's backward pass, weights gathered under the first
  /// one's forward pass [FORECAST-5]; what does not fit under it is exposed, and at least the
  /// bucket before or behind which nothing runs.
  void run_data_parallel(const PricedUpdate& update);
  /// `time`: of the update of the weights (update_time).
  void run_optimizer(Seconds time) { parts_.optimizer += time; }
  void run_reclaiming();
  /// Exchanges of a method beside the steps that follow, when all else of a step is known.
  void run_beside_steps(const PricedUpdate& update);
  void run_rest();

  const Parts& parts() const { return parts_; }
  /// Whether run_pipeline places slots, which takes a thousand times as long as a closed form, and
  /// what it will add at least.
  bool places() const { return placed_; }
  Seconds least_bubble() const {
    return headway::least_bubble(times_, prices_.layout, static_cast<std::int64_t>(micro_batches_));
  }
  /// One transfer between neighbouring stages; none where the pipeline has one stage.
  Seconds send() const { return send_; }

 private:
  // Interleaved schedules and those that fill bubbles transfer while another chunk computes; plain
  // 1F1B and GPipe wait for each transfer.
  bool overlaps_transfers() const {
    return prices_.layout.vpp > 1 || is_placed(prices_.layout.schedule) ||
           prices_.layout.losses != Losses::model;
  }
  // A rank's chunks that a micro-batch goes through.
  double chunks_of_micro_batch() const {
    const Layout& layout = prices_.layout;
    return static_cast<double>(chunks_of_rank(layout.schedule, layout.vpp) /
                               copies_of_model(layout.schedule));
  }
  Seconds transfer_time(const PricedCall& call) const;
  /// What of one transfer a stage's computation hides: it runs beside half of a chunk at most.
  Seconds hidden_transfer(const PricedCall& call, const StageTime& time) const;
  struct BlockTime {
    Seconds forward, backward, weight_gradient;
  };
  void add_stage(const StageClass& stage, const std::array<BlockTime, kMostBlocks>& blocks,
                 const std::vector<StageCall>& transfers);
  static void add_messages(const HostAhead& excess, StageTime& time);
  void keep(const PricedCall& priced, Seconds each, Seconds exposed);

  const std::vector<StageClass>& stages_;
  const std::vector<PricedBlock>& blocks_;
  double micro_batches_;
  const Prices& prices_;
  std::vector<StageTime>& times_;
  std::vector<PricedCall>* calls_;
  bool placed_;  // slots wait for what of transfers is not hidden: it is in the bubble
  std::size_t pace_ = 0;
  Seconds send_{};
  Seconds hidden_sends_;  // of one micro-batch in one direction
  Parts parts_{};
};

}  // namespace headway

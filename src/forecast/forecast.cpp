#include "forecast/forecast.hpp"

#include <algorithm>
#include <cmath>

#include "forecast/pipeline_time.hpp"
#include "forecast/price.hpp"
#include "step/habits.hpp"

namespace headway {
namespace {

Seconds& part_of(Parts& parts, Group group) {
  switch (group) {
    case Group::tp:
      return parts.tp;
    case Group::cp:
      return parts.cp;
    case Group::ep:
      return parts.ep;
    case Group::pp:
      return parts.pp;
    case Group::dp:
    case Group::expert_dp:
    case Group::dp_replica:
    case Group::embedding:
    case Group::model:
    case Group::world:
      return parts.dp;
  }
  return parts.other;
}

// Adds `times` runs of one direction to the parts.
void add(Parts& parts, const Direction& direction, double times) {
  parts.compute += direction.compute * times;
  parts.other += direction.host * times;
  for (std::size_t g = 0; g < kGroups; ++g) {
    part_of(parts, static_cast<Group>(g)) += direction.exposed[g] * times;
  }
}

// One entry for calls that differ in nothing but what of them is exposed, as those of a layer's two
// halves do.
void merge(std::vector<PricedCall>& calls) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i].call;
    std::size_t at = 0;
    const auto same = [&](const Call& other) {
      return other.op == call.op && other.group == call.group && other.phase == call.phase &&
             other.dtype == call.dtype && other.bytes == call.bytes;
    };
    while (at < kept && !same(calls[at].call)) ++at;
    if (at == kept) {
      calls[kept++] = calls[i];
    } else {
      calls[at].call.count += call.count;
      calls[at].exposed += calls[i].exposed;
    }
  }
  calls.resize(kept);
  // Shares of what goes across blocks [STEP-20] sum to whole numbers but for rounding.
  for (PricedCall& priced : calls) {
    const double whole = std::round(priced.call.count);
    if (std::abs(priced.call.count - whole) < 1e-6) priced.call.count = whole;
  }
}

// What a rank holds, and how it meets the accelerator's memory: live tensors must fit, with the
// gaps between them they may not [FORECAST-15].
struct HeldMemory {
  Memory held{}, first{};  // of the rank that holds most, of rank 0
  Bytes gaps{};            // of `held`
  bool fits = false, at_limit = false;
};

HeldMemory held_memory(const Step& step, const Job& job, const Cluster& cluster,
                       const Calibration& calibration) {
  const FrameworkConstants& constants = calibration.of(job.framework);
  HeldMemory out;
  out.held = step.memory;
  out.first = step.first_memory;
  const auto gaps = [&](const Memory& memory) {
    return constants.fragmentation * (memory.activations + memory.buffers);
  };
  for (Memory* memory : {&out.held, &out.first}) {
    memory->other = constants.context + gaps(*memory) + constants.interleaving * memory->in_flight;
  }
  out.gaps = gaps(out.held);
  out.fits = out.held.total() - out.gaps <= cluster.accelerator.memory;
  out.at_limit = gaps_cost_time(job) && out.held.total() > cluster.accelerator.memory;
  return out;
}

class Assembly {
 public:
  Assembly(const Step& step, const Prices& prices) : step_(step), prices_(prices) {}

  // Every block priced once, for one micro-batch.
  void price_blocks() {
    priced_.reserve(step_.blocks.size());
    for (const Block& block : step_.blocks) {
      block_calls_.emplace_back();
      priced_.push_back(price_block(block, prices_, block_calls_.back()));
    }
  }

  // Every stage's time for one micro-batch, and which stage sets the pace.
  void time_stages() {
    for (const StageClass& stage : step_.stages) {
      StageTime time;
      time.stages = stage.stages;
      for (std::size_t i = 0; i < priced_.size(); ++i) {
        const double count = static_cast<double>(stage.counts[i]);
        time.forward += count * priced_[i].forward.total();
        time.backward += count * (priced_[i].recompute.total() + priced_[i].backward.total());
        time.weight_gradient += count * priced_[i].weight_gradient;
      }
      for (const Call& call : stage.calls) {
        if (call.hidden_by != HiddenBy::pipeline || overlaps_transfers()) continue;
        time.transfers +=
            transfer_time(price(call)) * call.count / static_cast<double>(step_.micro_batches);
      }
      times_.push_back(time);
    }
    pace_ = slowest(times_);
  }

  std::size_t pace() const { return pace_; }
  // What follows is of this stage instead.
  void look_at(std::size_t stage) { pace_ = stage; }

  // The micro-batches of the stage that sets the pace.
  void run_micro_batches() {
    const StageClass& stage = step_.stages[pace_];
    const double micro = static_cast<double>(step_.micro_batches);
    Seconds first_gather(0), last_reduce(0);
    for (std::size_t i = 0; i < priced_.size(); ++i) {
      if (stage.counts[i] == 0) continue;
      const double times = micro * static_cast<double>(stage.counts[i]);
      const PricedBlock& block = priced_[i];
      add(parts_, block.forward, times);
      add(parts_, block.recompute, times);
      add(parts_, block.backward, times);
      first_gather = std::max(first_gather, block.first_gather);
      last_reduce = std::max(last_reduce, block.last_reduce);
      for (PricedCall call : block_calls_[i]) {
        call.call.count *= times;
        call.exposed *= times;
        calls_.push_back(call);
      }
    }
    // ZeRO-3: nothing runs before the first gather or after the last reduction.
    parts_.dp += first_gather + last_reduce;
  }

  // Transfers between stages, and the time that the stage waits for the others.
  void run_pipeline() {
    if (prices_.layout.pp == 1) return;
    Seconds send(0);
    const double vpp = static_cast<double>(prices_.layout.vpp);
    for (const Call& call : step_.stages[pace_].calls) {
      if (call.phase != Phase::pipeline) continue;
      PricedCall priced = price(call);
      if (call.hidden_by == HiddenBy::pipeline) {
        priced.each = transfer_time(priced);
        send = priced.each;
        const Seconds chunk = times_[pace_].total() * 0.5 / vpp;
        const Seconds exposed_each =
            overlaps_transfers() ? std::max(Seconds(0), priced.each - chunk) : priced.each;
        priced.exposed = exposed_each * call.count;
        hidden_sends_ = (priced.each - exposed_each) * vpp;
        parts_.compute +=
            (priced.each - exposed_each) * call.count * prices_.calibration.shared.interference;
      } else {
        priced.exposed = priced.each * call.count;
      }
      part_of(parts_, call.group) += priced.exposed;
      calls_.push_back(priced);
    }
    parts_.bubble = bubble_time(times_, prices_.layout, send);
  }

  // Gradients reduced under the last micro-batch's backward pass, weights gathered under the first
  // one's forward pass [FORECAST-5]; what does not fit under it is exposed, and at least the bucket
  // before or behind which nothing runs.
  void run_data_parallel() {
    const StageClass& stage = step_.stages[pace_];
    // A step ends with the first stage; a later one has time until then for its last bucket, which
    // may be all that it has.
    const bool first = stage.first == 0;
    // What hides the transfers between stages does not hide these, too.
    Seconds under_backward = std::max(Seconds(0), times_[pace_].backward - hidden_sends_);
    Seconds under_forward = std::max(Seconds(0), times_[pace_].forward - hidden_sends_);
    for (std::size_t i = 0; i < stage.calls.size(); ++i) {
      const Call& call = stage.calls[i];
      if (call.phase == Phase::pipeline) continue;
      PricedCall priced = price(call);
      const Seconds all = priced.each * call.count;
      Seconds hidden(0);
      if (call.hidden_by == HiddenBy::backward || call.hidden_by == HiddenBy::forward) {
        Seconds& room = call.hidden_by == HiddenBy::backward ? under_backward : under_forward;
        const Seconds bare = first && is_outermost(stage.calls, i) ? priced.each : Seconds(0);
        hidden = std::clamp(all - bare, Seconds(0), room);
        room -= hidden;
      }
      // [FORECAST-16] The host checks under the pass that hides the calls, too.
      const Seconds checks = check_time(call, priced.ranks, prices_) * call.count;
      const Seconds pass = call.hidden_by == HiddenBy::backward  ? times_[pace_].backward
                           : call.hidden_by == HiddenBy::forward ? times_[pace_].forward
                                                                 : Seconds(0);
      parts_.other += std::max(Seconds(0), checks - pass);
      priced.exposed = all - hidden;
      part_of(parts_, call.group) += priced.exposed;
      parts_.compute += hidden * prices_.calibration.shared.interference;
      calls_.push_back(priced);
    }
  }

  void run_optimizer() {
    if (prices_.layout.offload_optimizer) return add_offload();
    const FrameworkConstants& constants = prices_.calibration.of(prices_.job.framework);
    parts_.optimizer += step_.stages[pace_].pieces * constants.host_piece;
    for (const Op& op : step_.stages[pace_].ops) {
      parts_.optimizer += std::max(op_time(op, prices_), op.kernels * constants.host_launch);
    }
  }

  // [FORECAST-10] Once a step, and what grows with the number of ranks: the slowest of them sets
  // the pace.
  void run_rest() {
    parts_.other += prices_.calibration.of(prices_.job.framework).step_overhead;
    // All ranks meet at the end of a step.
    parts_.other +=
        check_time(prices_.layout.ranks(), prices_.cluster.levels.front().size, prices_);
    const double doublings = std::log2(static_cast<double>(prices_.layout.ranks()));
    parts_.other += parts_.total() * (prices_.calibration.shared.straggling * doublings);
  }

  // [FORECAST-15] Gaps between live tensors make the allocator run out: it gives its cache back,
  // and takes it anew.
  void run_reclaiming() {
    const BytesPerSecond rate = prices_.calibration.of(prices_.job.framework).reclaim;
    parts_.other +=
        static_cast<double>(step_.micro_batches) * (prices_.cluster.accelerator.memory / rate);
  }

  Parts parts() const { return parts_; }
  std::vector<PricedCall> calls() { return std::move(calls_); }

 private:
  // Interleaved schedules and those that fill bubbles transfer while another chunk computes; plain
  // 1F1B and GPipe wait for each transfer.
  bool overlaps_transfers() const {
    return prices_.layout.vpp > 1 || prices_.layout.schedule >= Schedule::zero_bubble;
  }

  // Of calls of one kind under the backward pass the last, under the forward pass the first.
  static bool is_outermost(const std::vector<Call>& calls, std::size_t at) {
    const auto like = [&](const Call& other) {
      return other.op == calls[at].op && other.group == calls[at].group &&
             other.hidden_by == calls[at].hidden_by;
    };
    const auto here = calls.begin() + static_cast<std::ptrdiff_t>(at);
    return calls[at].hidden_by == HiddenBy::backward ? std::none_of(here + 1, calls.end(), like)
                                                     : std::none_of(calls.begin(), here, like);
  }

  // [FORECAST-17] One transfer, and the host where it stands in the way of each.
  Seconds transfer_time(const PricedCall& call) const {
    return prices_.job.blocking_transfers
               ? call.each + prices_.calibration.of(prices_.job.framework).transfer_wait
               : call.each;
  }

  PricedCall price(const Call& call) const {
    const GroupSpan& span = span_of_group(prices_.spans, call.group);
    return {call,
            call.op == CollectiveOp::send_receive || call.group == Group::embedding
                ? std::int64_t{2}
                : span.ranks,
            crossed_level(span, prices_.cluster), call_time(call, prices_), Seconds(0)};
  }

  // [FORECAST-7] Gradients go down and weights come up over the link; between, the host's
  // processors update the states in its memory, of which an accelerator's share is about as fast as
  // its link.
  void add_offload() {
    const BytesPerSecond link = prices_.cluster.accelerator.host_bandwidth;
    const Bytes moved = step_.memory.gradients + step_.memory.parameters;
    const Bytes updated = 2 * step_.offloaded_states + step_.memory.gradients;
    parts_.optimizer += (moved + updated) / link;
  }

  const Step& step_;
  const Prices& prices_;
  std::vector<PricedBlock> priced_;
  std::vector<std::vector<PricedCall>> block_calls_;
  std::vector<StageTime> times_;
  std::size_t pace_ = 0;
  Seconds hidden_sends_;  // of one micro-batch in one direction
  Parts parts_{};
  std::vector<PricedCall> calls_;
};

}  // namespace

std::vector<StageCalls> calls_by_stage(const Model& model, const Job& job, const Layout& layout,
                                       const Cluster& cluster, const Calibration& calibration) {
  const Step step = lower(model, job, layout, cluster);
  const Prices prices{job, layout, cluster, calibration, step.spans};
  std::vector<StageCalls> out;
  for (std::size_t i = 0; i < step.stages.size(); ++i) {
    Assembly assembly(step, prices);
    assembly.price_blocks();
    assembly.time_stages();
    const bool sets_pace = assembly.pace() == i;
    assembly.look_at(i);
    assembly.run_micro_batches();
    assembly.run_pipeline();
    assembly.run_data_parallel();
    out.push_back({step.stages[i].first, step.stages[i].stages, sets_pace, assembly.calls()});
  }
  return out;
}

Forecast forecast(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster,
                  const Calibration& calibration, AttentionFlops convention) {
  const Step step = lower(model, job, layout, cluster);
  const Prices prices{job, layout, cluster, calibration, step.spans};

  Assembly assembly(step, prices);
  assembly.price_blocks();
  assembly.time_stages();
  assembly.run_micro_batches();
  assembly.run_pipeline();
  assembly.run_data_parallel();
  assembly.run_optimizer();
  const HeldMemory memory = held_memory(step, job, cluster, calibration);
  if (memory.fits && memory.at_limit) assembly.run_reclaiming();
  assembly.run_rest();

  Forecast out;
  out.parts = assembly.parts();
  out.calls = assembly.calls();
  merge(out.calls);
  out.step_time = out.parts.total();
  const double ranks = static_cast<double>(layout.ranks());
  const double tokens = static_cast<double>(job.global_batch) * static_cast<double>(job.sequence);
  out.tokens_per_second = tokens / out.step_time.value();
  out.tokens_per_second_per_accelerator = out.tokens_per_second / ranks;
  const bool full = convention == AttentionFlops::full;
  const Flops flops = full ? step.model_flops_full : step.model_flops_causal;
  const Flops again = full ? step.recomputed_flops_full : step.recomputed_flops_causal;
  out.model_flops_per_accelerator = flops / out.step_time / ranks;
  const FlopsPerSecond peak = cluster.accelerator.peak_of(job.recipe->matmul);
  out.mfu = out.model_flops_per_accelerator / peak;
  out.hfu = out.mfu * ((flops + again) / flops);
  out.memory = memory.held;
  out.first_memory = memory.first;
  out.driver = calibration.of(job.framework).context;
  out.gaps = memory.gaps;
  out.capacity = cluster.accelerator.memory;
  out.fits = memory.fits;
  if (memory.fits && memory.at_limit) {
    out.notes.emplace_back(
        "memory is at its limit: the allocator gives its cache back in every micro-batch, and may "
        "do so more often");
  }
  const Seconds busy = out.parts.compute + out.parts.optimizer;
  out.energy =
      cluster.accelerator.tdp * ranks *
      (busy * calibration.power.compute + (out.step_time - busy) * calibration.power.waiting);
  return out;
}

}  // namespace headway

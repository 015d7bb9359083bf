#include "forecast/forecast.hpp"

#include <algorithm>
#include <cmath>

#include "forecast/assembly.hpp"
#include "forecast/energy.hpp"
#include "step/pieces.hpp"

namespace headway {
namespace {

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

// [OWN-1] Times as own runs had them.
void stretch(std::vector<PricedCall>& calls, double factor) {
  for (PricedCall& call : calls) {
    call.each *= factor;
    call.exposed *= factor;
  }
}
void stretch(PipelineTimes& pipeline, double factor) {
  for (StageTime& stage : pipeline.stages) {
    for (Seconds* time : {&stage.forward, &stage.backward, &stage.weight_gradient, &stage.transfers,
                          &stage.vocabulary}) {
      *time *= factor;
    }
  }
  pipeline.send *= factor;
}

// A step with every block priced once, for one micro-batch, and its stages' transfers.
class Priced {
 public:
  explicit Priced(const Step& step, const Prices& prices) : step_(step), prices_(prices) {
    blocks_.reserve(step.blocks.size());
    for (const Block& block : step.blocks) {
      block_calls_.emplace_back();
      blocks_.push_back(price_block(block, prices, block_calls_.back()));
    }
    for (const StageClass& stage : step.stages) {
      transfers_.push_back(priced_transfers(stage, prices));
    }
  }

  Assembly assembly(std::vector<PricedCall>& calls) {
    Assembly out(step_.stages, blocks_, step_.micro_batches, prices_, times_, &calls);
    out.time_stages([&](std::size_t i) -> const std::vector<StageCall>& { return transfers_[i]; });
    return out;
  }

  // The micro-batches, transfers and data-parallel calls of the stage that the assembly looks at.
  PricedUpdate run(Assembly& assembly, std::vector<PricedCall>& calls) const {
    const StageClass& stage = step_.stages[assembly.pace()];
    assembly.run_micro_batches();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (stage.counts[i] == 0) continue;
      const double times = static_cast<double>(step_.micro_batches) *
                           static_cast<double>(stage.counts[i]) * stage.share;
      for (PricedCall call : block_calls_[i]) {
        call.call.count *= times;
        call.exposed *= times;
        call.block = static_cast<int>(i);
        calls.push_back(call);
      }
    }
    assembly.run_pipeline(transfers_[assembly.pace()]);
    PricedUpdate update = priced_update(stage, prices_);
    assembly.run_data_parallel(update);
    return update;
  }

  /// Of the stages of the last assembly.
  const std::vector<StageTime>& times() const { return times_; }

 private:
  const Step& step_;
  const Prices& prices_;
  std::vector<PricedBlock> blocks_;
  std::vector<std::vector<PricedCall>> block_calls_;
  std::vector<std::vector<StageCall>> transfers_;
  std::vector<StageTime> times_;
};

}  // namespace

std::vector<StageCalls> calls_by_stage(const Run& run, const Calibration& calibration) {
  const Step step = lower(run);
  const Prices prices{run.job, run.layout, run.cluster, calibration, step.spans};
  std::vector<StageCalls> out;
  Priced priced(step, prices);
  for (std::size_t i = 0; i < step.stages.size(); ++i) {
    std::vector<PricedCall> calls;
    Assembly assembly = priced.assembly(calls);
    const bool sets_pace = assembly.pace() == i;
    assembly.look_at(i);
    priced.run(assembly, calls);
    stretch(calls, calibration.own);
    out.push_back({step.stages[i].first, step.stages[i].stages, sets_pace, std::move(calls)});
  }
  return out;
}

Forecast forecast(const Run& run, const Calibration& calibration) {
  const Model& model = run.model;
  const Cluster& cluster = run.cluster;
  const Job& job = run.job;
  const Layout& layout = run.layout;
  const Step step = lower(run);
  const Prices prices{job, layout, cluster, calibration, step.spans};

  Forecast out;
  Priced priced(step, prices);
  Assembly assembly = priced.assembly(out.calls);
  const PricedUpdate update = priced.run(assembly, out.calls);
  assembly.run_optimizer(update, step.held);
  const HeldMemory memory = held_memory(step.held, job, cluster, calibration);
  if (memory.fits && memory.at_limit) assembly.run_reclaiming();
  assembly.run_rest();

  out.parts = assembly.parts();
  out.pipeline = {priced.times(), assembly.pace(), assembly.send()};
  merge(out.calls);
  stretch(out.pipeline, calibration.own);
  stretch(out.calls, calibration.own);
  out.step_time = out.parts.total();
  const double ranks = static_cast<double>(layout.ranks());
  const double tokens = static_cast<double>(job.global_batch) * static_cast<double>(job.sequence);
  out.tokens_per_second = tokens / out.step_time.value();
  out.tokens_per_second_per_accelerator = out.tokens_per_second / ranks;
  const bool full = run.convention == AttentionFlops::full;
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
  out.least_time =
      (least_model_flops(model, job, layout) + step.recomputed_flops_causal) / ranks / peak;
  const StepWork work{out.step_time, step.model_flops_full + step.recomputed_flops_full,
                      layout.ranks()};
  out.busy = work.busy(job, calibration, cluster.accelerator);
  out.energy = step_energy(work, job, calibration, cluster.accelerator);
  return out;
}

}  // namespace headway

#include "simulate/replay/replay.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "step/schedule/order.hpp"

namespace headway {
namespace {

// Of which of a pipeline's stages the passes take what was measured; of others their mean.
using IsMeasured = std::function<bool(std::int64_t stage)>;

// The ranks of 1F1B one slot after another, each as early as its order and its needs allow.
class OneForwardOneBackward {
 public:
  OneForwardOneBackward(const MeasuredOps& measured, OpTime mean, Seconds transfer)
      : measured_(measured), mean_(mean), transfer_(transfer.value()) {
    const Pipeline pipeline{Schedule::one_f_one_b, measured.stages, 1, measured.micro_batches};
    for (std::int64_t r = 0; r < measured.stages; ++r) {
      orders_.push_back(unrolled(rank_order(pipeline, r)));
    }
  }

  Seconds span(const std::vector<OpTime>* ops, const IsMeasured& is_measured) {
    const auto m = static_cast<std::size_t>(measured_.micro_batches);
    const std::size_t p = orders_.size();
    // When activations and gradients are there, by stage.
    constexpr double kNever = -1;
    activations_.assign(p * m, kNever);
    gradients_.assign(p * m, kNever);
    std::fill_n(activations_.begin(), m, 0.0);
    at_.assign(p, 0);
    free_.assign(p, 0.0);
    std::vector<std::array<std::size_t, 2>> done(p);  // forward passes, backward passes
    bool runs = true;
    while (runs) {
      runs = false;
      for (std::size_t r = 0; r < p; ++r) {
        const bool own = ops != nullptr && is_measured(static_cast<std::int64_t>(r));
        for (; at_[r] < orders_[r].size(); ++at_[r]) {
          const bool forward = orders_[r][at_[r]].work == SlotWork::forward;
          const std::size_t i = done[r][forward ? 0 : 1];
          const double there = (forward ? activations_ : gradients_)[r * m + i];
          if (there == kNever) break;
          const OpTime time = own ? (*ops)[r * m + i] : mean_;
          const double end =
              std::max(free_[r], there) + (forward ? time.forward : time.backward).value();
          free_[r] = end;
          ++done[r][forward ? 0 : 1];
          runs = true;
          if (forward) {
            if (r + 1 < p) activations_[(r + 1) * m + i] = end + transfer_;
            if (r + 1 == p) gradients_[r * m + i] = end;
          } else if (r > 0) {
            gradients_[(r - 1) * m + i] = end + transfer_;
          }
        }
      }
    }
    return Seconds(*std::max_element(free_.begin(), free_.end()));
  }

 private:
  const MeasuredOps& measured_;
  OpTime mean_;
  double transfer_;
  std::vector<std::vector<Slot>> orders_;
  std::vector<double> activations_, gradients_, free_;
  std::vector<std::size_t> at_;
};

OpTime mean_of(const MeasuredOps& measured) {
  OpTime sum;
  for (const MeasuredPipeline& pipeline : measured.pipelines) {
    for (const OpTime& op : pipeline.ops) {
      sum.forward += op.forward;
      sum.backward += op.backward;
    }
  }
  const double count = static_cast<double>(measured.pipelines.size()) *
                       static_cast<double>(measured.stages * measured.micro_batches);
  return {sum.forward / count, sum.backward / count};
}

// The longest span of each step's ranks, in the mean over steps.
template <class SpanOf>
Seconds step_of(const MeasuredOps& measured, SpanOf&& span_of) {
  Seconds sum(0), longest(0);
  double steps = 0;
  for (std::size_t i = 0; i < measured.pipelines.size(); ++i) {
    longest = std::max(longest, span_of(i));
    const bool last = i + 1 == measured.pipelines.size() ||
                      measured.pipelines[i + 1].step != measured.pipelines[i].step;
    if (!last) continue;
    sum += longest;
    longest = Seconds(0);
    ++steps;
  }
  return sum / steps;
}

}  // namespace

Replay replay(const MeasuredOps& measured, std::optional<Seconds> transfer) {
  Replay out;
  const OpTime mean = mean_of(measured);
  out.transfer_given = transfer.has_value();
  out.transfer = transfer.value_or(kTransferShare * (mean.forward + mean.backward) / 2.0);
  out.stages = measured.stages;
  out.micro_batches = measured.micro_batches;
  for (const MeasuredPipeline& pipeline : measured.pipelines) {
    if (pipeline.step != measured.pipelines.front().step) break;
    out.dp_ranks.push_back(pipeline.dp_rank);
  }

  // Every pipeline as it was, and at the means.
  OneForwardOneBackward run(measured, mean, out.transfer);
  const IsMeasured all = [](std::int64_t) { return true; };
  for (const MeasuredPipeline& pipeline : measured.pipelines) {
    out.pipelines.push_back({pipeline.step, pipeline.dp_rank, run.span(&pipeline.ops, all)});
  }
  out.ideal_step = run.span(nullptr, all);
  const auto as_it_was = [&](std::size_t i) { return out.pipelines[i].span; };
  out.step = step_of(measured, as_it_was);
  out.slowdown = out.step / out.ideal_step;

  // One stage of every pipeline, then of one rank's, alone as it was, and alone mended.
  const std::size_t ranks = out.dp_ranks.size();
  out.slowdown_without_worker.resize(ranks * static_cast<std::size_t>(out.stages));
  out.slowdown_worker_mended.resize(out.slowdown_without_worker.size());
  std::vector<Seconds> alone(measured.pipelines.size()), mended(measured.pipelines.size());
  for (std::int64_t stage = 0; stage < out.stages; ++stage) {
    for (std::size_t i = 0; i < measured.pipelines.size(); ++i) {
      const std::vector<OpTime>* ops = &measured.pipelines[i].ops;
      alone[i] = run.span(ops, [&](std::int64_t other) { return other == stage; });
      mended[i] = run.span(ops, [&](std::int64_t other) { return other != stage; });
    }
    const auto slowdown = [&](auto&& span_of) {
      return step_of(measured, span_of) / out.ideal_step;
    };
    out.slowdown_without_stage.push_back(slowdown([&](std::size_t i) { return alone[i]; }));
    out.slowdown_stage_mended.push_back(slowdown([&](std::size_t i) { return mended[i]; }));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t worker =
          rank * static_cast<std::size_t>(out.stages) + static_cast<std::size_t>(stage);
      // Pipelines stand by step, then by rank.
      out.slowdown_without_worker[worker] =
          slowdown([&](std::size_t i) { return i % ranks == rank ? alone[i] : out.ideal_step; });
      out.slowdown_worker_mended[worker] =
          slowdown([&](std::size_t i) { return i % ranks == rank ? mended[i] : as_it_was(i); });
    }
  }
  return out;
}

}  // namespace headway

// Measured pipelines run again, as they were and as they might have been: which stage, which worker
// makes a job slow. After the what-if analysis of arXiv 2505.05713.
#pragma once

#include <optional>
#include <vector>

#include "simulate/replay/ops.hpp"

namespace headway {

struct ReplayedPipeline {
  std::int64_t step = 0, dp_rank = 0;
  Seconds span;  // from the first start of any stage to the last end
};

/// [SIM-3] T: seconds of a step, the longest span of its ranks, in the mean over steps. T_ideal:
/// the same where every pass takes the mean of its kind over all steps, ranks, stages and
/// micro-batches. Slowdowns are T over T_ideal.
struct Replay {
  Seconds transfer;  // between stages
  bool transfer_given = false;
  std::vector<ReplayedPipeline> pipelines;
  Seconds step, ideal_step;
  double slowdown = 1;
  /// By stage: every pass at its mean but those of the stage, which makes the job so much slower by
  /// itself.
  std::vector<double> slowdown_without_stage;
  /// By data-parallel rank, each with its stages: the same of one worker.
  std::vector<double> slowdown_without_worker;
  /// By stage and by worker: its passes alone at their mean, what is left of the slowdown where it
  /// is mended.
  std::vector<double> slowdown_stage_mended, slowdown_worker_mended;
  std::vector<std::int64_t> dp_ranks;  // as the file names them
  std::int64_t stages = 0, micro_batches = 0;
};

/// [SIM-4] What a transfer takes where nobody says so: a hundredth of a pass in the mean, which is
/// about what activations take over a network of the time that a stage of layers takes.
constexpr double kTransferShare = 0.01;

/// Pipelines of 1F1B. `transfer`: between stages; unset: by kTransferShare.
Replay replay(const MeasuredOps& measured, std::optional<Seconds> transfer = std::nullopt);

}  // namespace headway

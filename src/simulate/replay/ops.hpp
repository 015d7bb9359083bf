// Measured times of a job's pipelines: what each stage took for each micro-batch.
#pragma once

#include <cstdint>
#include <vector>

#include "base/document/csv.hpp"
#include "base/quantity.hpp"

namespace headway {

/// What a stage took for a micro-batch: forward, and both gradients.
struct OpTime {
  Seconds forward, backward;
};

/// One step of one data-parallel rank.
struct MeasuredPipeline {
  std::int64_t step = 0, dp_rank = 0;
  std::vector<OpTime> ops;  // stage after stage, each with its micro-batches
};

struct MeasuredOps {
  std::int64_t stages = 0, micro_batches = 0;
  std::vector<MeasuredPipeline> pipelines;  // by step, then by rank
};

/// Columns step, dp_rank, stage, micro_batch, F_s, B_s, rows in any order; every pipeline with the
/// same stages and micro-batches, every step with the same ranks. Or everything that is wrong.
Result<MeasuredOps> read_ops(const Csv& table);

}  // namespace headway

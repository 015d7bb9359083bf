#include "simulate/codesign/compression.hpp"

#include <algorithm>

#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

// Of factors: as wide as the gradients, where the machine has it.
Precision precision_of_products(const Run& run) {
  const bool wide = reduced_bytes(run.job) > Bytes(2);
  const Accelerator& on = run.cluster.accelerator;
  Precision precision = Precision::bf16;
  for (const Precision each : {Precision::fp32, Precision::tf32}) {
    if (wide && on.peak_of(each) > FlopsPerSecond(0)) precision = each;
  }
  const bool has = on.peak_of(precision) > FlopsPerSecond(0);
  return has ? precision : run.job.recipe->activation;
}

}  // namespace

std::string compress_gradients(Step& step, const Run& run, const Compression& compression) {
  if (compression.by == Compressor::none) return {};
  if (shards_weights(run.job, run.layout)) {
    return "needs gradients that travel once a step; they are scattered block by block (--zero 0, "
           "1 or 2)";
  }
  const bool any = std::any_of(step.stages.begin(), step.stages.end(), sends_gradients);
  if (!any) return "needs gradients that travel; there is one replica";
  if (compression.by == Compressor::fp16 && reduced_bytes(run.job) <= Bytes(2)) {
    return "brings nothing: gradients travel in 16 bit already";
  }
  const Compressed of{run.model, run.job, step.blocks, step.spans, precision_of_products(run)};
  for (StageClass& stage : step.stages) {
    std::string problem = compress(stage, of, compression);
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace headway

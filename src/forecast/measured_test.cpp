// The eight measured runs of arXiv 2205.05198 table 5 (Korthikanti et al.): A100 80 GB, 16 bit,
// sequence 2,048, tensor degree 8, attention not fused. No constant is fitted on them.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cluster/load.hpp"
#include "forecast/forecast.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

struct Measured {
  const char* model;
  std::int64_t gpus, micro_batch, batch, pp, vpp;
  double full;       // s, full recomputation without sequence parallelism
  double selective;  // s, selective recomputation with sequence parallelism
};

const std::vector<Measured> kRuns = {
    {"megatron-22b", 8, 4, 4, 1, 1, 1.42, 1.10},
    {"gpt3-175b", 64, 1, 64, 8, 3, 18.13, 13.75},
    {"mt-nlg-530b", 280, 1, 280, 35, 3, 49.05, 37.83},
    {"megatron-1t", 512, 1, 512, 64, 1, 94.42, 71.49},
};

double relative_error(const Measured& run, const char* recipe, bool full) {
  Run asked{load_model(run.model).value(), load_cluster("dgx-a100-80gb").value(), {}, {}};
  const Calibration calibration = calibration_for(asked.cluster).value();
  Job& job = asked.job;
  job.sequence = 2048;
  job.global_batch = run.batch;
  job.recipe = recipe_from(recipe);
  job.attention = AttentionKernel::unfused;
  Layout& layout = asked.layout;
  layout.tp = 8;
  layout.pp = run.pp;
  layout.vpp = run.vpp;
  layout.micro_batch = run.micro_batch;
  layout.recompute = full ? Recompute::full : Recompute::selective;
  layout.sequence_parallel = !full;
  EXPECT_EQ(layout.ranks(), run.gpus);
  EXPECT_TRUE(is_legal(asked)) << run.model;
  const double seconds = forecast(asked, calibration).step_time.value();
  const double measured = full ? run.full : run.selective;
  EXPECT_NEAR(seconds / measured, 1, 0.15) << run.model << (full ? " full" : " selective");
  return std::abs(seconds / measured - 1);
}

TEST(Measured, StepTimesOf22BTo1TAreWithinFivePercentInTheMean) {
  for (const char* recipe : {"fp16", "bf16"}) {
    double sum = 0;
    for (const Measured& run : kRuns) {
      sum += relative_error(run, recipe, true) + relative_error(run, recipe, false);
    }
    EXPECT_LE(sum / 8, 0.05) << recipe;
    RecordProperty(std::string("mean_error_") + recipe, std::to_string(sum / 8));
  }
}

}  // namespace
}  // namespace headway

// No step is shorter than physics allows: bounds that do not know how a forecast is put together.
#include <cmath>

#include "forecast/price.hpp"
#include "forecast/random_run_for_test.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

using testing::any_pipeline;
using testing::Case;
using testing::legal_case;

bool at_least(Seconds time, Seconds bound) {
  return time >= bound * (1 - 1e-12);
}

// Chunk after chunk forward, then backward; a weight gradient may wait. A transfer at each border.
RC_GTEST_PROP(Bounds, NoStepIsShorterThanTheWayOfOneMicroBatch, ()) {
  const Case c = legal_case(any_pipeline);
  const Forecast f = c.priced();
  Seconds way(0);
  for (const StageTime& stage : f.pipeline.stages) {
    way += static_cast<double>(stage.stages) * (stage.total() - stage.weight_gradient);
  }
  const std::int64_t chunks = c.layout.schedule == Schedule::zero_bubble_v ? 2 : c.layout.vpp;
  // At the turn of ZB-V both chunks are one rank's; DualPipe's stages are those of one direction.
  const std::int64_t borders =
      c.layout.pp * chunks - (c.layout.schedule == Schedule::zero_bubble_v ? 2 : 1);
  const bool pipeline = c.layout.pp > 1;
  way += 2 * static_cast<double>(pipeline ? borders : 0) * f.pipeline.send;
  RC_ASSERT(at_least(f.step_time, way));
}

RC_GTEST_PROP(Bounds, NoStepIsShorterThanTheWorkOfAnyRank, ()) {
  const Case c = legal_case(any_pipeline);
  const Forecast f = c.priced();
  const auto micro = static_cast<double>(micro_batches(c.job, c.layout));
  for (const StageTime& stage : f.pipeline.stages) {
    RC_ASSERT(at_least(f.step_time, micro * (stage.total() + stage.transfers)));
  }
}

// Scores that a causal mask leaves out are not computed; three passes over the rest, and what is
// computed again.
RC_GTEST_PROP(Bounds, NoStepIsShorterThanItsArithmeticAtThePeak, ()) {
  const Case c = legal_case(any_pipeline);
  const Forecast f =
      forecast(c.model, c.job, c.layout, c.cluster, c.calibration, AttentionFlops::causal);
  const double flops = 3 * static_cast<double>(c.job.global_batch) *
                       forward_flops(c.model, c.job.sequence, AttentionFlops::causal).value();
  const double rate = c.cluster.accelerator.peak_of(c.job.recipe->matmul).value() *
                      static_cast<double>(c.layout.ranks());
  RC_ASSERT(at_least(f.step_time, Seconds(flops / rate)));
  RC_ASSERT(f.least_time >= Seconds(flops / rate) * (1 - 1e-12));
  RC_ASSERT(at_least(f.step_time, f.least_time));
  RC_ASSERT(f.hfu <= 1);
}

}  // namespace
}  // namespace headway

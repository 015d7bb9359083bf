// No step is shorter than physics allows: bounds that do not know how a forecast is put together.
#include <cmath>

#include "cluster/load.hpp"
#include "forecast/price.hpp"
#include "forecast/random_run_for_test.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

using testing::Case;

bool at_least(Seconds time, Seconds bound) {
  return time >= bound * (1 - 1e-12);
}

// Chunk after chunk forward, then backward; a weight gradient may wait. A transfer at each border.
RC_GTEST_PROP(Bounds, NoStepIsShorterThanTheWayOfOneMicroBatch, ()) {
  const Case c = testing::random_case();
  const Forecast f = c.priced();
  Seconds way(0);
  for (const StageTime& stage : f.pipeline.stages) {
    way += static_cast<double>(stage.stages) * (stage.total() - stage.weight_gradient);
  }
  const bool folded = is_folded(c.layout.schedule);
  const std::int64_t chunks = folded ? 2 : c.layout.vpp;
  // At the turn of a folded pipeline both chunks are one rank's; of two copies of the model a
  // micro-batch goes through one.
  const std::int64_t borders = c.layout.pp * chunks - (folded ? 2 : 1);
  const bool pipeline = c.layout.pp > 1;
  way += 2 * static_cast<double>(pipeline ? borders : 0) * f.pipeline.send;
  RC_ASSERT(at_least(f.step_time, way));
}

RC_GTEST_PROP(Bounds, NoStepIsShorterThanTheWorkOfAnyRank, ()) {
  const Case c = testing::random_case();
  const Forecast f = c.priced();
  const auto micro = static_cast<double>(micro_batches(c.job, c.layout));
  for (const StageTime& stage : f.pipeline.stages) {
    RC_ASSERT(at_least(f.step_time, micro * (stage.total() + stage.transfers)));
  }
}

// Scores that a causal mask leaves out, or that lie between documents, are not computed: of the
// sequence at least as many whole documents are there as fit. Three passes over the rest, two where
// weights are frozen.
RC_GTEST_PROP(Bounds, NoStepIsShorterThanItsArithmeticAtThePeak, ()) {
  Case c = testing::random_case();
  c.convention = AttentionFlops::causal;
  const Forecast f = c.priced();
  const std::int64_t sequence = c.job.sequence / c.layout.cp;
  const std::int64_t document =
      c.job.document > 0 ? std::min(sequence, c.job.document) : c.job.sequence;
  // Rounded to equal ones, documents are at least two thirds of their mean.
  const std::int64_t least =
      c.job.document > 0 ? std::max<std::int64_t>(1, document * 2 / 3) : document;
  const double flops = (c.job.task == Task::lora ? 2 : 3) *
                       static_cast<double>(c.job.global_batch * c.job.sequence) /
                       static_cast<double>(least) *
                       forward_flops(c.model, least, AttentionFlops::causal).value();
  const double rate = c.cluster.accelerator.peak_of(c.job.recipe->matmul).value() *
                      static_cast<double>(c.layout.ranks());
  RC_ASSERT(at_least(f.step_time, Seconds(flops / rate)));
  RC_ASSERT(f.least_time >= Seconds(flops / rate) * (1 - 1e-12));
  RC_ASSERT(at_least(f.step_time, f.least_time));
  RC_ASSERT(f.hfu <= 1 || c.job.document > 0);
}

// Of networks of modules, whatever their format: in fp32 libraries leave out multiplications.
TEST(Bounds, NoStepOfANetworkIsShorterThanItsProductsAtThePeak) {
  const auto cluster = load_cluster("dgx-a100-80gb");
  const auto calibration = calibration_for(*cluster);
  ASSERT_TRUE(calibration.ok());
  for (const std::string& name : model_names()) {
    headway::Run run;
    run.model = load_model(name).value();
    if (!run.model.is_network()) continue;
    run.cluster = *cluster;
    run.job.framework = framework_of_networks();
    run.job.sequence = 1;
    run.job.graphs = Graphs::step;
    run.layout.dp = 8;
    spread_tables(run.model, run.cluster, run.layout);
    for (const char* recipe : {"fp32", "tf32", "fp16"}) {
      for (const std::int64_t samples : {1, 64, 4096}) {
        run.job.recipe = recipe_from(recipe);
        run.layout.micro_batch = samples;
        run.job.global_batch = 8 * samples;
        ASSERT_TRUE(check(run).empty()) << name;
        const Forecast f = forecast(run, *calibration);
        EXPECT_TRUE(at_least(f.step_time, f.least_time)) << name << " " << recipe << " " << samples;
      }
    }
  }
}

}  // namespace
}  // namespace headway

#include <cmath>

#include "forecast/random_run_for_test.hpp"
#include "study/design/op_table.hpp"

namespace headway {
namespace {

using testing::Case;
using testing::random_case;

// Every fixed time that a step hangs on by the same factor; the allocator's rate over it.
void stretch_times(Case& c, double by) {
  KernelParameters& kernels = c.calibration.kernels;
  for (Seconds* time : {&kernels.shortest_kernel, &kernels.matmul_start, &kernels.grouped_start}) {
    *time *= by;
  }
  for (ProductParameters& product : kernels.products) {
    product.loop_step *= by;
    product.quantisation_start *= by;
  }
  for (NetworkParameters& network : c.calibration.levels) {
    for (Seconds* time : {&network.base_latency, &network.ring_step, &network.ring_step_through,
                          &network.ring_gap, &network.tree_fill}) {
      *time *= by;
    }
  }
  for (FrameworkConstants& host : c.calibration.frameworks) {
    for (Seconds* time :
         {&host.host_launch, &host.host_call, &host.grouped_overhead, &host.step_overhead,
          &host.host_piece, &host.near_check, &host.far_check, &host.transfer_wait}) {
      *time *= by;
    }
    host.reclaim /= by;
  }
  for (Level& level : c.cluster.levels) level.latency *= by;
}

Case scaled(Case c, double rates, double times) {
  stretch_times(c, times);
  for (std::size_t rate = 0; rate < kRateNames.size(); ++rate) {
    c.cluster = with_rate(c.cluster, static_cast<Rate>(rate), rates);
  }
  return c;
}

// [DESIGN-1] All rates times k, all fixed times over k: a step takes 1/k as long. (Of stages that
// take equally long rounding decides which is told in parts.)
RC_GTEST_PROP(StepBounds, AStepOnAMachineKTimesAsFastTakesAKth, ()) {
  const Case c = random_case();
  const double k = 0.5 + *rc::gen::inRange(0, 40) / 10.0;
  const Forecast base = c.priced(), faster = scaled(c, k, 1 / k).priced();
  RC_ASSERT(std::abs(faster.step_time * k / base.step_time - 1) < 1e-9);
}

// [DESIGN-2] Of any step the rows of a part add up to it, and what is bound by each to all of it.
RC_GTEST_PROP(StepBounds, OpsOfAnyStepAddUpToItsParts, ()) {
  const Case c = random_case();
  const Forecast whole = c.priced();
  const OpTable table = op_table(c, c.calibration);
  for (const PartRow& part : kParts) {
    Seconds sum(0);
    for (const OpRow& row : table.rows) {
      if (row.part == part.name) sum += row.time();
    }
    RC_ASSERT(std::abs((sum - whole.parts[part.part]).value()) <= 2e-9 * whole.step_time.value());
  }
  RC_ASSERT(std::abs(table.total.total() / whole.step_time - 1) < 1e-8);
}

}  // namespace
}  // namespace headway

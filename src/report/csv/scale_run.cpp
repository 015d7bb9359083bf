#include "report/scale_run.hpp"

#include "base/formatted.hpp"
#include "report/words.hpp"

namespace headway {

std::string scale_run_csv(const ScaledRuns& series) {
  std::string out =
      "gpus,global_batch_tokens,tokens,days,days_early,days_late,goodput,mfu,tokens_per_s,"
      "gpu_hours,energy_mwh,co2_t,price_usd\n";
  for (const ScaledRun& each : series.runs) {
    const RunCost& cost = each.whole.cost;
    out += formatted("%lld,%.0f,%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n",
                     static_cast<long long>(cost.accelerators), each.whole.batch,
                     each.whole.assumed.tokens, cost.time.total().value() / kDay,
                     cost.early.value() / kDay, cost.late.value() / kDay, cost.time.goodput,
                     each.whole.forecast.mfu, each.whole.forecast.tokens_per_second,
                     cost.accelerator_time.value() / kHour, cost.energy.total().value() / 3.6e9,
                     cost.carbon / 1000, cost.price);
  }
  return out;
}

}  // namespace headway

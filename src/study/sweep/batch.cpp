#include "study/sweep/batch.hpp"

#include "platform/parallel.hpp"
#include "study/lifetime/convergence.hpp"

namespace headway {
namespace {

// Doublings of the point's own batch that are tried, in both directions.
constexpr int kDoublings = 6;

double tokens_of(const Job& job) {
  return static_cast<double>(job.global_batch) * static_cast<double>(job.sequence);
}

// The time of training alone to the loss.
Seconds training_time(const SameLoss& same, const Job& job, const Forecast& forecast) {
  return Seconds(same.tokens_with(tokens_of(job)) / forecast.tokens_per_second);
}

TimeToLoss time_to_loss(const SweepPoint& point, const SameLoss& same, const SweepTools& tools,
                        RunAssumptions assumed) {
  TimeToLoss out;
  const SweepRun& run = point.run;
  out.tokens = same.tokens_with(tokens_of(run.job));
  assumed.tokens = out.tokens;
  out.time =
      run_cost(run.model, run.job, run.layout, run.cluster, point.forecast, assumed, tools.power)
          .time.total();
  out.own_time = training_time(same, run.job, point.forecast);
  out.best_time = out.own_time;
  out.best_batch = run.job.global_batch;
  SweepRun other = run;
  for (int doubling = -kDoublings; doubling <= kDoublings; ++doubling) {
    if (doubling == 0) continue;
    const std::int64_t factor = std::int64_t{1} << (doubling < 0 ? -doubling : doubling);
    if (doubling < 0 && run.job.global_batch % factor != 0) continue;
    other.layout = run.layout;
    other.job.global_batch =
        doubling < 0 ? run.job.global_batch / factor : run.job.global_batch * factor;
    Result<SweepRun> chosen = tools.layout ? tools.layout(other) : Result<SweepRun>(other);
    if (!chosen) continue;
    if (!check(chosen->model, chosen->job, chosen->layout, chosen->cluster).empty()) continue;
    const auto made = tools.forecast(*chosen);
    if (!made || !made->fits) continue;
    const Seconds time = training_time(same, other.job, *made);
    if (time >= out.best_time) continue;
    out.best_time = time;
    out.best_batch = other.job.global_batch;
  }
  return out;
}

}  // namespace

// [SCALE-24] By [SCALE-10] a batch of B tokens takes E_min·(1 + B/B_crit) tokens to a loss; the
// base run with B₀ and D tokens comes to it, so that another takes D·(1 + B/B_crit)/(1 + B₀/B_crit)
// and, at X tokens/s, that over X seconds. Known error: the learning rate is taken to be tuned for
// each batch, and B_crit to be that at the end of the run throughout, where it is larger than
// before.
double SameLoss::tokens_with(double batch_tokens) const {
  return tokens * token_factor(batch_tokens, critical_batch) / token_factor(batch, critical_batch);
}

void add_time_to_loss(SweepSeries& series, const SameLoss& same, const SweepTools& tools) {
  for_each_index(
      series.points.size(), tools.threads,
      [&](std::size_t i, std::size_t) {
        SweepPoint& point = series.points[i];
        auto assumed = tools.assumed(point.run);
        if (!assumed) return;
        point.to_loss = time_to_loss(point, same, tools, std::move(assumed).value());
      },
      tools.progress, /*grain=*/1);
}

}  // namespace headway

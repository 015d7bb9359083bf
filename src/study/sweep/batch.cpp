#include "study/sweep/batch.hpp"

#include <utility>

#include "forecast/predict/predict.hpp"
#include "platform/parallel.hpp"
#include "study/lifetime/convergence.hpp"

namespace headway {
namespace {

// Doublings of the point's own batch that are tried, in both directions.
constexpr int kBatchDoublings = 6;

double tokens_of(const Job& job) {
  return static_cast<double>(job.global_batch) * static_cast<double>(job.sequence);
}

// The time of training alone to the loss.
Seconds training_time(const SameLoss& same, double batch_tokens, double tokens_per_second) {
  return Seconds(same.tokens_with(batch_tokens) / tokens_per_second);
}

// Those of the batches that are legal and fit, each with the layout that is chosen for it.
std::vector<TriedBatch> tried(const RequestedRun& run, const SweepSettings& settings) {
  std::vector<TriedBatch> out;
  RequestedRun other = run;
  for (const std::int64_t sequences : batches_beside(run.job.global_batch)) {
    other.job.global_batch = sequences;
    const Result<RequestedRun> chosen =
        settings.layout ? settings.layout(other) : Result<RequestedRun>(other);
    if (!chosen) continue;
    if (!is_legal(*chosen)) continue;
    const auto made = predict(*chosen);
    if (made && made->fits) out.push_back({sequences, made->tokens_per_second});
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

std::vector<std::int64_t> batches_beside(std::int64_t own) {
  std::vector<std::int64_t> out;
  for (int doubling = -kBatchDoublings; doubling <= kBatchDoublings; ++doubling) {
    const std::int64_t factor = std::int64_t{1} << (doubling < 0 ? -doubling : doubling);
    if (doubling == 0 || (doubling < 0 && own % factor != 0)) continue;
    out.push_back(doubling < 0 ? own / factor : own * factor);
  }
  return out;
}

TimeToLoss time_to_loss(const SweepPoint& point, const std::vector<TriedBatch>& others,
                        const SameLoss& same, RunAssumptions assumed, const PowerConstants& power) {
  TimeToLoss out;
  const Run& run = point.run;
  out.tokens = same.tokens_with(tokens_of(run.job));
  assumed.tokens = out.tokens;
  out.time = run_cost(run, point.forecast, assumed, power).time.total();
  out.own_time = training_time(same, tokens_of(run.job), point.forecast.tokens_per_second);
  out.best_time = out.own_time;
  out.best_batch = run.job.global_batch;
  for (const TriedBatch& other : others) {
    const double tokens =
        static_cast<double>(other.sequences) * static_cast<double>(run.job.sequence);
    const Seconds time = training_time(same, tokens, other.tokens_per_second);
    if (time >= out.best_time) continue;
    out.best_time = time;
    out.best_batch = other.sequences;
  }
  return out;
}

void add_time_to_loss(SweepSeries& series, const SameLoss& same, const SweepSettings& settings) {
  for_each_index(
      series.points.size(), settings.threads,
      [&](std::size_t i, std::size_t) {
        SweepPoint& point = series.points[i];
        const RequestedRun& run = point.run;
        auto assumed = assumptions_for(settings.given, run.cluster, run.layout.ranks());
        if (!assumed) return;
        point.to_loss = time_to_loss(point, tried(run, settings), same, std::move(assumed).value(),
                                     settings.power);
      },
      settings.progress, /*grain=*/1);
}

}  // namespace headway

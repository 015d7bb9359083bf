#include "study/sweep/sweep.hpp"

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "forecast/predict/predict.hpp"
#include "platform/parallel.hpp"

namespace headway {
namespace {

std::string all_of(const Problems& problems) {
  std::vector<std::string> parts;
  for (const Problem& problem : problems) {
    const std::string where = where_text(problem);
    parts.push_back(where.empty() ? problem.message : where + ": " + problem.message);
  }
  return join(parts, "; ");
}

}  // namespace

// [SCALE-21] Communication: Σ count · seconds of each over the calls of the rank that sets the
// pace, whether hidden or not. Exposed: the parts tp + cp + ep + pp + dp of the step, what no
// computation hides.
// [SCALE-22] Tokens a joule: tokens/s over the power that the accelerators draw, hosts and cooling
// not counted, as arXiv 2411.13055 measured it (NVML).
Result<SweepPoint> sweep_point(const SweepCase& at, RequestedRun run, Forecast forecast,
                               const RunAssumptions& assumed, const PowerConstants& power) {
  if (!forecast.fits) {
    return Problem{
        {},
        "does not fit: " + to_text(forecast.memory.total()) + " of " + to_text(forecast.capacity)};
  }
  SweepPoint out;
  out.label = at.label;
  out.value = at.value;
  out.run = std::move(run);
  out.forecast = std::move(forecast);
  out.cost = run_cost(out.run, out.forecast, assumed, power);
  if (out.cost.hopeless) return Problem{{}, "fails before a checkpoint is reached"};
  for (const PricedCall& call : out.forecast.calls) {
    out.communication += call.each * call.call.count;
  }
  out.exposed = out.forecast.parts.exposed();
  out.tokens_per_joule = out.forecast.tokens_per_second / out.power().value();
  return out;
}

Result<SweepPoint> sweep_point(const SweepCase& at, const SweepSettings& settings) {
  if (!at.run) return at.run.problems();
  Result<RequestedRun> chosen = settings.layout ? settings.layout(*at.run) : at.run;
  if (!chosen) return chosen.problems();
  RequestedRun run = std::move(chosen).value();
  if (Problems wrong = check(run); !wrong.empty()) {
    return wrong;
  }
  auto forecast = predict(run);
  const auto assumed = assumptions_for(settings.given, run.cluster, run.layout.ranks());
  Problems problems;
  if (!forecast) append(problems, forecast.problems());
  if (!assumed) append(problems, assumed.problems());
  if (!problems.empty()) return problems;
  return sweep_point(at, std::move(run), std::move(forecast).value(), *assumed, settings.power);
}

SweepSeries sweep(std::string name, const std::vector<SweepCase>& cases,
                  const SweepSettings& settings) {
  std::vector<Result<SweepPoint>> made(cases.size(), Result<SweepPoint>(Problems{}));
  for_each_index(
      cases.size(), settings.threads,
      [&](std::size_t i, std::size_t) { made[i] = sweep_point(cases[i], settings); },
      settings.progress,
      /*grain=*/1);
  SweepSeries out;
  out.name = std::move(name);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (made[i]) {
      out.points.push_back(std::move(made[i]).value());
    } else {
      out.left_out.push_back({cases[i].label, all_of(made[i].problems())});
    }
  }
  return out;
}

// [SCALE-23] From a point with X tokens/s on N accelerators that draw W watts to the next:
// (X' - X) / (N' - N) and (X' - X) / (W' - W). Returns have diminished where the former is below
// threshold · X₀/N₀, of the first point. Known error: a difference over the whole gap between two
// points; the more points, the nearer to the derivative.
void add_marginal_returns(SweepSeries& series, double threshold) {
  std::vector<SweepPoint>& points = series.points;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const SweepPoint& before = points[i - 1];
    SweepPoint& here = points[i];
    const double added = here.accelerators() - before.accelerators();
    const Watts drawn = here.power() - before.power();
    if (added <= 0 || drawn.value() <= 0) continue;
    const double gained = here.forecast.tokens_per_second - before.forecast.tokens_per_second;
    here.marginal = {gained / added, gained / drawn.value()};
    const SweepPoint& first = points.front();
    const double least = threshold * first.forecast.tokens_per_second / first.accelerators();
    if (!series.diminished && here.marginal->per_accelerator < least) series.diminished = i;
  }
}

}  // namespace headway

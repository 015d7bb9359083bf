#include "study/design/workload.hpp"

#include "forecast/forecast.hpp"
#include "study/infer/search/ways.hpp"
#include "study/plan/fitting.hpp"

namespace headway {

DesignWorkload training_workload(RequestedRun run) {
  DesignWorkload out;
  out.title = run.model.name + " in training";
  out.times = {"step"};
  out.base = run.cluster;
  out.accelerators = run.layout.ranks();
  out.would_fit = [run]() -> WouldFit {
    const auto calibration = calibration_for(run);
    if (!calibration) return {};
    return {.words = what_would_fit(run, forecast(run, *calibration))};
  };
  out.with_constants_of = [run = std::move(run)](const Cluster& cluster) -> Result<Measure> {
    RequestedRun there = run;
    there.cluster = cluster;
    auto calibration = calibration_for(there);
    if (!calibration) return calibration.problems();
    const Problems problems = check(there);
    const std::string refused = problems.empty() ? std::string() : problems.front().message;
    return Measure(
        [there, refused, calibration = std::move(calibration).value()](const Cluster& on) mutable {
          WorkloadTimes made;
          made.refused = refused;
          if (!refused.empty()) return made;
          there.cluster = on;
          const Forecast found = forecast(there, calibration);
          made.fits = found.fits;
          if (!found.fits) return made;
          made.times = {found.step_time};
          made.tokens_per_second = found.tokens_per_second;
          return made;
        });
  };
  return out;
}

namespace {

// Of a batch the passes themselves; of clients the closed form [INFER-17], which differs as
// smoothly as machines do, where placing them in time would not.
WorkloadTimes times_of(const Serving& serving, const ServingConstants& constants,
                       const Load& load) {
  WorkloadTimes out;
  if (load.arrivals == Arrivals::together) {
    const Served found = served(serving, constants, load);
    out.fits = found.fits;
    if (!found.fits) return out;
    out.times = {found.each_token, found.first_token, found.latency};
    out.tokens_per_second = found.output_per_second;
    return out;
  }
  out.fits = holds_sequence(memory_of(serving, load), load);
  const auto found = out.fits ? in_closed_form(serving, constants, load) : std::nullopt;
  if (!found) return out;
  const Seconds way = serving.engine.request, each(found->each_token);
  const Seconds first = Seconds(found->first_token) + way;
  const double output = static_cast<double>(load.output);
  out.times = {each, first, first + (output - 1) * each};
  out.tokens_per_second = output * static_cast<double>(serving.dp) *
                          rate_with_way(static_cast<double>(load.batch), found->rate, way.value());
  return out;
}

}  // namespace

DesignWorkload serving_workload(Serving serving, Load load) {
  DesignWorkload out;
  out.title = serving.model.name + " served";
  out.times = {"each token", "first token", "answer"};
  out.base = serving.cluster;
  out.accelerators = serving.ranks();
  out.would_fit = [serving, load]() -> WouldFit {
    const auto constants = serving_constants(serving.cluster);
    if (!constants) return {};
    auto changes = smallest_changes(serving, *constants, load);
    std::string words = would_fit_text(changes);
    return {std::move(changes), std::move(words)};
  };
  out.with_constants_of = [serving = std::move(serving),
                           load](const Cluster& cluster) -> Result<Measure> {
    auto constants = serving_constants(cluster);
    if (!constants) return constants.problems();
    Serving there = serving;
    there.cluster = cluster;
    const Problems problems = check(there);
    const std::string refused = problems.empty() ? std::string() : problems.front().message;
    return Measure([there, load, refused,
                    constants = std::move(constants).value()](const Cluster& on) mutable {
      WorkloadTimes made;
      made.refused = refused;
      if (!refused.empty()) return made;
      there.cluster = on;
      return times_of(there, constants, load);
    });
  };
  return out;
}

}  // namespace headway

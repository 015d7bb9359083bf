#include "study/design/workload.hpp"

#include "forecast/forecast.hpp"
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
      const Served found = served(there, constants, load);
      made.fits = found.fits;
      if (!found.fits) return made;
      made.times = {found.each_token, found.first_token, found.latency};
      made.tokens_per_second = found.output_per_second;
      return made;
    });
  };
  return out;
}

}  // namespace headway

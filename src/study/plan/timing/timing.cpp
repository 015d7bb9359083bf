#include "study/plan/timing/timing.hpp"

#include <algorithm>
#include <chrono>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"
#include "platform/resident.hpp"
#include "study/plan/plan.hpp"
#include "study/plan/search.hpp"

namespace headway {
namespace {

constexpr int kRepetitions = 5, kAnswers = 3;
constexpr std::size_t kTop = 5;  // layouts that `plan` shows where it is not told

// One run of data/runs/planned.toml.
struct Case {
  std::string name;
  bool whole = true;  // priced without bounds, too
  std::int64_t accelerators = 0;
  Run run;
  Calibration calibration;
  Result<PlanSpace> space = Problems{};
  PlanBest best;
};

Result<std::vector<Case>> planned_runs() {
  const auto document = embedded_document("runs/planned.toml");
  if (!document) return document.problems();
  Problems problems;
  std::vector<Case> out;
  for (Fields& run : Fields(*document, problems).tables("runs")) {
    Case c;
    c.name = run.text("name");
    c.whole = run.flag_or("whole", c.whole);
    c.accelerators = run.count("gpus");
    c.run.job.global_batch = run.count("global_batch");
    c.run.job.sequence = run.count("seq");
    const auto model = load_model(run.text("model"));
    const auto cluster = load_cluster(run.text("cluster"));
    if (!model) return model.problems();
    if (!cluster) return cluster.problems();
    const auto calibration = calibration_for(*cluster);
    if (!calibration) return calibration.problems();
    c.run.model = *model;
    c.run.cluster = *cluster;
    c.calibration = *calibration;
    c.space = PlanSpace::make(c.run, c.accelerators);
    if (!c.space) return c.space.problems();
    out.push_back(std::move(c));
  }
  if (!problems.empty()) return problems;
  return out;
}

template <class Body>
double seconds_of(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Body>
double median_of(int repetitions, const Body& body) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) seconds.push_back(seconds_of(body));
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// What `plan` is asked without options.
PlanTask whole_task(const Case& c, const PlanSearch& how) {
  PlanTask out;
  out.run = {c.run};
  out.run.layout.dp = c.accelerators;
  out.how = how;
  out.how.top = kTop;
  return out;
}

Bytes most_resident() {
  return Bytes(static_cast<double>(most_resident_bytes()));
}

}  // namespace

Result<PlanTiming> time_plans(int threads) {
  PlanTiming out;
  out.repetitions = kRepetitions;
  out.threads = workers_of(threads);
  auto planned = planned_runs();
  if (!planned) return planned.problems();
  std::vector<Case> cases = std::move(planned).value();
  PlanSearch how;
  how.threads = threads;
  for (Case& c : cases) {
    const double one = median_of(kRepetitions, [&] {
      const auto space = PlanSpace::make(c.run, c.accelerators);
      c.best = search({c.run, c.calibration, *space}, how);
    });
    const PlanQuestion question{c.run, c.calibration, *c.space};
    PlanSearch ten = how;
    ten.top = 10;
    const double several = median_of(kRepetitions, [&] { search(question, ten); });
    const double answer = median_of(kAnswers, [&] { (void)plan_of(whole_task(c, how)); });
    out.bounded.push_back(
        {c.name, c.space->size(), Seconds(one), Seconds(several), Seconds(answer),
         c.best.counts.fitting, most_resident(),
         c.best.points.empty() ? std::nullopt : std::optional(c.best.points.front().time)});
  }
  for (const Case& c : cases) {
    if (!c.whole) continue;
    const PlanQuestion question{c.run, c.calibration, *c.space};
    PlanSearch all = how;
    all.exhaustive = true;
    PlanBest best;
    const double seconds = seconds_of([&] { best = search(question, all); });
    const bool same =
        !best.points.empty() && best.points.front().index == c.best.points.front().index;
    out.whole.push_back({c.name, c.space->size(), c.space->size() - best.counts.illegal,
                         best.counts.fitting, Seconds(seconds), same});
  }
  return out;
}

}  // namespace headway

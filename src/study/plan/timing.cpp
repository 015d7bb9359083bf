#include "study/plan/timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "model/load.hpp"
#include "study/plan/search.hpp"

namespace headway {
namespace {

// Runs of arXiv 2104.04473 and 2201.11990; a mixture of experts.
struct Published {
  const char* name;
  const char* model;
  const char* cluster;
  std::int64_t accelerators, sequences, tokens;
  bool whole = true;  // priced without bounds, too
};
constexpr Published kPublished[] = {
    {"Megatron 1T", "megatron-1t", "dgx-a100-80gb", 3072, 3072, 2048},
    {"Turing-NLG 530B", "mt-nlg-530b", "dgx-a100-80gb", 2240, 1920, 2048},
    {"GPT-3 175B", "gpt3-175b", "dgx-a100-80gb", 1024, 1536, 2048},
    {"Mixtral 8x7B", "mixtral-8x7b", "dgx-h100", 256, 512, 4096, false},
};
constexpr int kRepetitions = 5;

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

// The most memory that this process has held.
Bytes most_resident() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Bytes(1024.0 * static_cast<double>(usage.ru_maxrss));
}

}  // namespace

Result<PlanTiming> time_plans(int threads) {
  PlanTiming out;
  out.repetitions = kRepetitions;
  out.threads = workers_of(threads);
  struct Case {
    Model model;
    Job job;
    Cluster cluster;
    Calibration calibration;
    Result<PlanSpace> space = Problems{};
    PlanBest best;
  };
  std::vector<Case> cases;
  for (const Published& run : kPublished) {
    Case c;
    c.model = load_model(run.model).value();
    c.cluster = load_cluster(run.cluster).value();
    c.calibration = calibration_for(c.cluster).value();
    c.job.sequence = run.tokens;
    c.job.global_batch = run.sequences;
    c.space = PlanSpace::make(c.model, c.job, c.cluster, run.accelerators);
    if (!c.space) return c.space.problems();
    cases.push_back(std::move(c));
  }
  PlanSearch how;
  how.threads = threads;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case& c = cases[i];
    const double one = median_of(kRepetitions, [&] {
      const auto space = PlanSpace::make(c.model, c.job, c.cluster, kPublished[i].accelerators);
      c.best = search({c.model, c.job, c.cluster, c.calibration, *space}, how);
    });
    const PlanQuestion question{c.model, c.job, c.cluster, c.calibration, *c.space};
    PlanSearch ten = how;
    ten.top = 10;
    const double several = median_of(kRepetitions, [&] { search(question, ten); });
    out.bounded.push_back(
        {kPublished[i].name, c.space->size(), Seconds(one), Seconds(several), c.best.counts.fitting,
         most_resident(),
         c.best.points.empty() ? std::nullopt : std::optional(c.best.points.front().time)});
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!kPublished[i].whole) continue;
    const Case& c = cases[i];
    const PlanQuestion question{c.model, c.job, c.cluster, c.calibration, *c.space};
    PlanSearch all = how;
    all.exhaustive = true;
    PlanBest best;
    const double seconds = seconds_of([&] { best = search(question, all); });
    const bool same =
        !best.points.empty() && best.points.front().index == c.best.points.front().index;
    out.whole.push_back({kPublished[i].name, c.space->size(), c.space->size() - best.counts.illegal,
                         best.counts.fitting, Seconds(seconds), same});
  }
  return out;
}

}  // namespace headway

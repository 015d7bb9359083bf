// headway bench plan: how long it takes to find the best layout of published runs, with and without
// bounds.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "api/plan.hpp"
#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "cluster/load.hpp"
#include "model/load.hpp"

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

std::string text(double value, const char* unit) {
  char out[32];
  std::snprintf(out, sizeof out, "%.3g%s", value, unit);
  return out;
}

}  // namespace

CommandOutput bench_plan(int threads) {
  std::vector<std::vector<std::string>> quick = {
      {"run", "layouts", "with bounds", "of each kind, 10", "priced", "memory", "step"}};
  std::vector<std::vector<std::string>> whole = {
      {"run", "legal", "fitting", "exhaustive", "layouts/s", "the same best"}};
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
    if (!c.space) return {.problems = c.space.problems()};
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
    quick.push_back({kPublished[i].name, short_count_text(static_cast<double>(c.space->size())),
                     text(one, " s"), text(several, " s"),
                     short_count_text(static_cast<double>(c.best.counts.fitting)),
                     to_text(most_resident()),
                     c.best.points.empty() ? "none" : to_text(c.best.points.front().time)});
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!kPublished[i].whole) continue;
    const Case& c = cases[i];
    const PlanQuestion question{c.model, c.job, c.cluster, c.calibration, *c.space};
    PlanSearch all = how;
    all.exhaustive = true;
    PlanBest best;
    const double seconds = seconds_of([&] { best = search(question, all); });
    const auto count = [](std::uint64_t n) { return short_count_text(static_cast<double>(n)); };
    const bool same =
        !best.points.empty() && best.points.front().index == c.best.points.front().index;
    whole.push_back({kPublished[i].name, count(c.space->size() - best.counts.illegal),
                     count(best.counts.fitting), text(seconds, " s"),
                     short_count_text(static_cast<double>(c.space->size()) / seconds),
                     same ? "yes" : "NO"});
  }
  return {.text = aligned(quick) + "\n" + aligned(whole) + "\nmedian of " +
                  std::to_string(kRepetitions) + " with bounds, once without; " +
                  std::to_string(workers_of(threads)) + " threads\n"};
}

}  // namespace headway

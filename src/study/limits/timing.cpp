#include "study/limits/timing.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "study/limits/real.hpp"
#include "study/limits/sensitivities.hpp"

namespace headway {
namespace {

constexpr int kRepetitions = 5;
constexpr std::array kPublished = {"base_dense", "base_sparse", "grand_dense", "grand_sparse",
                                   "batch"};
const char* const kTimedMachine = "h100-sxm";
const char* const kThreeLevels = "h100-sites";

// Calls body(), which answers with a number of models.
template <class Body>
LimitsTiming::Row measure(std::string what, const Body& body) {
  std::vector<double> seconds;
  LimitsTiming::Row out{std::move(what), 0, {}};
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    out.models = body();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  out.median = Seconds(seconds[seconds.size() / 2]);
  return out;
}

LimitsTiming::Row measure_curves(std::string what, const std::vector<limits::Setting>& settings,
                                 int threads) {
  return measure(std::move(what), [&] {
    std::size_t models = 0;
    const auto curves = limits_curves(settings, threads, {});
    for (const LimitsCurve& of : *curves) models += of.curve.runs.size();
    return models;
  });
}

}  // namespace

Result<LimitsTiming> time_limits(int threads) {
  LimitsTiming out;
  out.repetitions = kRepetitions;
  out.threads = workers_of(threads);
  std::vector<limits::Setting> all;
  Problems problems;
  for (const char* name : kPublished) {
    const auto comparison = limits::embedded_comparison(name);
    if (!comparison) {
      append(problems, comparison.problems());
      continue;
    }
    out.rows.push_back(measure_curves(name, comparison->settings, threads));
    all.insert(all.end(), comparison->settings.begin(), comparison->settings.end());
  }
  const auto machine = limits::embedded_machine(kTimedMachine);
  const auto distant = limits::embedded_machine(kThreeLevels);
  if (!machine) append(problems, machine.problems());
  if (!distant) append(problems, distant.problems());
  if (!problems.empty()) return problems;
  out.rows.push_back(measure_curves("all five", all, threads));
  const auto slowest = std::max_element(
      all.begin(), all.end(), [&](const limits::Setting& a, const limits::Setting& b) {
        return measure_curves({}, {a}, threads).median < measure_curves({}, {b}, threads).median;
      });
  out.rows.push_back(measure_curves("their slowest curve: " + slowest->name, {*slowest}, threads));

  // Beyond the study.
  out.rows.push_back(measure_curves("three levels: " + std::string(kThreeLevels),
                                    {limits::setting_on(*distant)}, threads));
  const limits::Setting setting = limits::setting_on(*machine);
  out.rows.push_back(measure(
      "sensitivity", [&] { return limits_sensitivity(setting, threads, {})->each.size(); }));
  out.rows.push_back(measure("real transformers", [&] {
    return real_answers({}, {setting}, threads, {})->front().models.size();
  }));
  return out;
}

}  // namespace headway

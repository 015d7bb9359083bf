// headway bench limits: how long the published comparisons take, and what is asked beyond them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "api/limits_beyond.hpp"
#include "api/limits_real.hpp"
#include "base/draw/table.hpp"
#include "platform/parallel.hpp"

namespace headway {
namespace {

constexpr int kRepetitions = 5;
constexpr std::array kPublished = {"base_dense", "base_sparse", "grand_dense", "grand_sparse",
                                   "batch"};
const char* const kMachine = "h100-sxm";
const char* const kThreeLevels = "h100-sites";

struct Measured {
  double median = 0;  // seconds
  std::size_t models = 0;
};

// Calls body(), which answers with a number of models.
template <class Body>
Measured measure(const Body& body) {
  std::vector<double> seconds;
  Measured out;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    out.models = body();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  out.median = seconds[seconds.size() / 2];
  return out;
}

Measured measure_curves(const std::vector<limits::Setting>& settings, int threads) {
  return measure([&] {
    std::size_t models = 0;
    const auto curves = limits_curves(settings, threads, {});
    for (const LimitsCurve& of : *curves) models += of.curve.runs.size();
    return models;
  });
}

std::vector<std::string> row(const std::string& name, const Measured& measured) {
  char time[32];
  std::snprintf(time, sizeof time, "%.1f ms", 1e3 * measured.median);
  return {name, std::to_string(measured.models), time};
}

}  // namespace

CommandOutput bench_limits(int threads) {
  std::vector<std::vector<std::string>> rows = {{"what", "models", "time"}};
  std::vector<limits::Setting> all;
  Problems problems;
  for (const char* name : kPublished) {
    const auto comparison = limits::embedded_comparison(name);
    if (!comparison) {
      append(problems, comparison.problems());
      continue;
    }
    rows.push_back(row(name, measure_curves(comparison->settings, threads)));
    all.insert(all.end(), comparison->settings.begin(), comparison->settings.end());
  }
  const auto machine = limits::embedded_machine(kMachine);
  const auto distant = limits::embedded_machine(kThreeLevels);
  if (!machine) append(problems, machine.problems());
  if (!distant) append(problems, distant.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  rows.push_back(row("all five", measure_curves(all, threads)));
  const auto slowest = std::max_element(
      all.begin(), all.end(), [&](const limits::Setting& a, const limits::Setting& b) {
        return measure_curves({a}, threads).median < measure_curves({b}, threads).median;
      });
  rows.push_back(row("their slowest curve: " + slowest->name, measure_curves({*slowest}, threads)));

  // Beyond the study.
  rows.push_back(row("three levels: " + std::string(kThreeLevels),
                     measure_curves({limits::setting_on(*distant)}, threads)));
  const limits::Setting setting = limits::setting_on(*machine);
  rows.push_back(row("sensitivity", measure([&] {
                       return limits_sensitivity(setting, threads, {})->each.size();
                     })));
  LimitsRequest request;
  request.threads = threads;
  rows.push_back(row("real transformers", measure([&] {
                       return real_answers(request, {setting})->front().models.size();
                     })));
  return {.text = aligned(rows) + "median of " + std::to_string(kRepetitions) + " on " +
                  std::to_string(workers_of(threads)) +
                  " threads; of sensitivity, the numbers that are varied\n"};
}

}  // namespace headway

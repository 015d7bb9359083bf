// headway bench limits: how long the published comparisons take.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "api/limits.hpp"
#include "base/parallel.hpp"
#include "base/table.hpp"

namespace headway {
namespace {

constexpr int kRepetitions = 5;

struct Measured {
  double median = 0;  // seconds
  std::size_t models = 0;
};

Measured measure(const std::vector<limits::Setting>& settings, int threads) {
  std::vector<double> seconds;
  Measured out;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto curves = limits_curves(settings, threads, {});
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    out.models = 0;
    for (const LimitsCurve& of : *curves) out.models += of.curve.runs.size();
  }
  std::sort(seconds.begin(), seconds.end());
  out.median = seconds[seconds.size() / 2];
  return out;
}

std::vector<std::string> row(const std::string& name, const Measured& measured) {
  char time[32];
  std::snprintf(time, sizeof time, "%.1f ms", 1e3 * measured.median);
  return {name, std::to_string(measured.models), time};
}

}  // namespace

CommandOutput bench_limits(int threads) {
  std::vector<std::vector<std::string>> rows = {{"comparison", "models", "time"}};
  std::vector<limits::Setting> all;
  Problems problems;
  for (const std::string& name : limits::comparison_names()) {
    const auto comparison = limits::embedded_comparison(name);
    if (!comparison) {
      append(problems, comparison.problems());
      continue;
    }
    rows.push_back(row(name, measure(comparison->settings, threads)));
    all.insert(all.end(), comparison->settings.begin(), comparison->settings.end());
  }
  if (!problems.empty()) return {.problems = std::move(problems)};
  rows.push_back(row("all of them", measure(all, threads)));
  const auto slowest = std::max_element(
      all.begin(), all.end(), [&](const limits::Setting& a, const limits::Setting& b) {
        return measure({a}, threads).median < measure({b}, threads).median;
      });
  rows.push_back(row("slowest curve: " + slowest->name, measure({*slowest}, threads)));
  return {.text = aligned(rows) + "median of " + std::to_string(kRepetitions) + " on " +
                  std::to_string(workers_of(threads)) + " threads\n"};
}

}  // namespace headway

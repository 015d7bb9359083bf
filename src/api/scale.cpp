#include "api/scale.hpp"

#include <cmath>
#include <cstdio>

#include "api/answer.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "platform/output.hpp"

namespace headway {

std::string duration_text(Seconds time) {
  constexpr struct {
    double seconds;
    const char* unit;
  } kUnits[] = {{86'400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
  for (const auto& unit : kUnits) {
    const double value = time.value() / unit.seconds;
    if (value < 0.9995 && unit.seconds > 1) continue;
    char text[48];
    std::snprintf(text, sizeof text,
                  value < 9.995   ? "%.2f %s"
                  : value < 99.95 ? "%.1f %s"
                                  : "%.0f %s",
                  value, unit.unit);
    return text;
  }
  return "0 s";
}

std::string short_count_text(double value) {
  if (value >= 1e7) {
    char text[64];
    const bool billions = value >= 1e9, trillions = value >= 1e12;
    std::snprintf(text, sizeof text, "%.3g %s",
                  value / (trillions  ? 1e12
                           : billions ? 1e9
                                      : 1e6),
                  trillions  ? "T"
                  : billions ? "B"
                             : "M");
    return text;
  }
  return count_text(value);
}

CommandOutput run_scale_run(const ScaleRunRequest& request) {
  // The fields: those of the run file, overridden by the flags.
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};

  // The whole run, or everything that is wrong with it.
  const auto whole = whole_run(*fields);
  if (!whole) return {.problems = whole.problems()};
  if (whole->cost.hopeless) {
    const std::string why =
        "no checkpoint is reached: the run is interrupted every " +
        duration_text(whole->cost.reliability.mean_time_between) + ", and " +
        duration_text(whole->cost.interval + whole->cost.reliability.checkpoint +
                      whole->cost.reliability.restart) +
        " must pass without an interruption; a longer --mtbf, a faster --restart or fewer "
        "accelerators";
    return {.text = request.json ? problems_json({{"mtbf", why}}) : why + "\n", .exit_code = 1};
  }

  // The same with fewer and more accelerators.
  const ScaledRuns scaled = by_accelerators(*fields, *whole);

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, scale_run_csv(scaled)});
  if (!request.plot.empty()) {
    files.push_back({request.plot + "/goodput.svg", plot_goodput(*whole)});
    files.push_back({request.plot + "/days.svg", plot_days(*whole, scaled)});
  }
  Problems problems = write_files(files, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json ? scale_run_json(*whole, scaled) : scale_run_text(*whole, scaled),
          .exit_code = whole->forecast.fits ? 0 : 1};
}

}  // namespace headway

// Points of steps by the batch, runs with a target, and files of laws: any text becomes laws that
// are written and read again, or problems.
#include <cmath>
#include <cstdlib>

#include "base/document/csv.hpp"
#include "base/document/document.hpp"
#include "study/laws/steps_law.hpp"
#include "study/laws/time_to_target.hpp"
#include "targets.hpp"

void headway::fuzz::steps_law(std::string_view text) {
  const auto document = headway::parse_toml(text, "laws.toml");
  if (document) {
    const auto laws = headway::steps_laws_of(*document);
    if (!laws && laws.problems().empty()) std::abort();
    for (std::size_t i = 0; laws && i < laws->size(); ++i) {
      if (!((*laws)[i].progress > 0 && (*laws)[i].critical > 0)) std::abort();
    }
  }
  const auto table = headway::parse_csv(text, "points.csv");
  if (!table) return;
  const auto runs = headway::read_target_runs(*table);
  if (!runs && runs.problems().empty()) std::abort();
  const auto series = headway::read_steps_points(*table);
  if (!series) {
    if (series.problems().empty()) std::abort();
    return;
  }
  for (const headway::StepsSeries& each : *series) {
    const auto law = headway::fit_steps_law(each);
    if (!law) continue;
    if (!(law->progress > 0 && law->critical > 0 && std::isfinite(law->rms))) std::abort();
    const auto written =
        headway::parse_toml(headway::to_toml({*law}, "2026-11-27"), "written.toml");
    if (!written || !headway::steps_laws_of(*written)) std::abort();
  }
}

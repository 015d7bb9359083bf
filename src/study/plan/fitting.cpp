#include "study/plan/fitting.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "study/plan/space/fields.hpp"
#include "study/plan/space/space.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostChanges = 2;
// Degrees that lie on the accelerators with dp. One of them changed is one change.
constexpr std::array<std::string_view, 3> kDegrees = {"tp", "cp", "pp"};

// Whether a field means something else in the two.
bool differs(const PlanField& field, const Layout& a, const Layout& b, Framework framework) {
  return !limit_to(field, field.value(a), framework).passes(b) &&
         !limit_to(field, field.value(b), framework).passes(a);
}

// The fields that differ; dp follows from the others.
std::vector<const PlanField*> changed(const Run& run, const Layout& layout) {
  std::vector<const PlanField*> out;
  for (const PlanField& field : plan_fields()) {
    if (field.name == "dp") continue;
    if (differs(field, run.layout, layout, run.job.framework)) out.push_back(&field);
  }
  return out;
}

// Among those of a cell's layouts what they all differ in.
std::size_t changed_by_cell(const Run& run, const Layout& first) {
  const std::vector<const PlanField*> all = changed(run, first);
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const PlanField* field) {
    return field->axis != PlanAxis::inner;
  }));
}

// The spaces in which layouts differ from the run's in one degree at most.
std::vector<PlanSpace> spaces_around(const Run& run) {
  std::vector<PlanSpace> out;
  for (const std::string_view open : kDegrees) {
    std::vector<PlanFilter> filters;
    for (const std::string_view degree : kDegrees) {
      const PlanField& field = *plan_field(degree);
      if (degree == open) continue;
      filters.push_back({std::string(degree), value_text(field, run.layout), false, {}});
    }
    auto space = PlanSpace::make(run, run.layout.ranks(), filters);
    if (space) out.push_back(std::move(space).value());
  }
  return out;
}

}  // namespace

std::string changes_text(const Run& run, const Layout& layout) {
  std::string out;
  for (const PlanField* field : changed(run, layout)) {
    const std::string value = value_text(*field, layout);
    const bool off = field->name == "sp" || field->name == "reshard";
    const std::string flag = off && value == "off" ? "--no-" + std::string(field->name)
                                                   : "--" + std::string(field->name) + " " + value;
    out += (out.empty() ? "" : " ") + flag;
  }
  return out;
}

std::optional<Fitting> smallest_fitting(const Run& run, const Calibration& calibration) {
  std::array<std::optional<Fitting>, kMostChanges + 1> best;  // by the fields that differ
  Run trial = run;
  for (const PlanSpace& space : spaces_around(run)) {
    for (const PlanCell& cell : space.cells()) {
      const std::uint64_t first = space.first_index(cell);
      if (changed_by_cell(run, space.layout_at(first)) > kMostChanges) continue;
      const std::size_t inner = space.inner(space.tuples()[cell.tuple]).size();
      for (std::uint64_t i = first; i < first + inner; ++i) {
        trial.layout = space.layout_at(i);
        const std::size_t fields = changed(run, trial.layout).size();
        if (fields == 0 || fields >= best.size() || !is_legal(trial)) continue;
        Forecast now = forecast(trial, calibration);
        std::optional<Fitting>& least = best[fields];
        const bool better = !least || now.step_time < least->forecast.step_time;
        if (now.fits && better) least = Fitting{trial.layout, fields, std::move(now)};
      }
    }
  }
  for (const std::optional<Fitting>& found : best) {
    if (found) return found;
  }
  return std::nullopt;
}

std::string what_would_fit(const RequestedRun& run, const Forecast& forecast) {
  if (run.far != nullptr) return "on two machines no change is looked for";
  const auto calibration = calibration_for(run);
  const auto found = calibration ? smallest_fitting(run, *calibration) : std::nullopt;
  if (!found) {
    return "no layout that differs in one or two fields fits on these accelerators; headway plan "
           "looks at all, and at more accelerators";
  }
  const double longer = found->forecast.step_time / forecast.step_time - 1;
  const Bytes live = found->forecast.memory.total() - found->forecast.gaps;
  return "would fit with " + changes_text(run, found->layout) + ": " + to_text(live) + ", " +
         to_text(found->forecast.step_time) + " a step (" + formatted("%+.1f %%", 100 * longer) +
         ")";
}

}  // namespace headway

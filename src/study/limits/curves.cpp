#include "study/limits/curves.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

namespace headway {
namespace {

using limits::Run;
using limits::Setting;

// Of one width of one setting: the run in the asked form of the step, and in the published one.
struct Model {
  std::optional<Run> run, published;
};

struct Work {
  std::vector<std::int64_t> widths;
  std::vector<Model> models;
  // Where the curve ends, as far as is known: models behind it need not be computed. Which of them
  // are computed nevertheless depends on the threads, the curve does not.
  std::atomic<std::size_t> end;
};

bool ends_curve(const Setting& setting, const std::optional<Run>& run) {
  return !run || run->utilization < setting.least_utilization;
}

// The published form is never slower, and where its best run takes no longer in the asked form,
// that run is the best of the asked form as well.
Model model_of(const Setting& setting, std::int64_t d_model) {
  if (setting.as_published) {
    auto run = limits::run_at(setting, d_model);
    return {run, run};
  }
  Setting as_published = setting;
  as_published.as_published = true;
  Model out;
  out.published = limits::run_at(as_published, d_model);
  if (!out.published) return out;
  const auto step = limits::step_times(setting, out.published->shape, out.published->layout);
  if (step.total == out.published->step.total) {
    out.run = out.published;
  } else {
    out.run = limits::run_at(setting, d_model);
  }
  return out;
}

void compare_forms(LimitsCurve& out, const std::vector<Model>& models, std::size_t end) {
  for (std::size_t i = 0; i < end; ++i) {
    const auto& [run, published] = models[i];
    if (!run && !published) continue;
    if (run && published && run->gpus == published->gpus &&
        run->utilization == published->utilization) {
      continue;
    }
    ++out.models_changed;
    if (!run || !published) continue;
    const double change = std::abs(run->utilization / published->utilization - 1);
    out.largest_change = std::max(out.largest_change, change);
  }
}

LimitsCurve finished(const Setting& setting, Work& work) {
  LimitsCurve out;
  out.setting = setting;
  const std::size_t end = std::min(work.end.load() + 1, work.models.size());
  compare_forms(out, work.models, end);
  std::vector<std::optional<Run>> runs;
  for (std::size_t i = 0; i < end; ++i) runs.push_back(std::move(work.models[i].run));
  out.curve = limits::curve_of(setting, std::move(runs));
  out.published_alpha = limits::closed_forms(setting, 0);
  out.implied_alpha = limits::closed_forms(setting, limits::implied_alpha(setting));
  if (out.curve.end == limits::CurveEnd::too_slow) {
    constexpr Seconds kAnyTime{std::numeric_limits<double>::infinity()};
    out.too_slow = limits::Search(setting, *out.curve.first_infeasible).fastest_of_all(kAnyTime);
  }
  return out;
}

}  // namespace

std::optional<std::vector<LimitsCurve>> limits_curves(const std::vector<Setting>& settings,
                                                      int threads, const Progress& progress) {
  // All widths of all settings, the narrow ones of each first.
  std::vector<Work> works(settings.size());
  std::vector<std::pair<std::size_t, std::size_t>> order;  // setting, index of the width
  std::size_t most = 0;
  for (std::size_t s = 0; s < settings.size(); ++s) {
    works[s].widths = limits::widths(settings[s]);
    works[s].models.resize(works[s].widths.size());
    works[s].end = works[s].widths.size();
    most = std::max(most, works[s].widths.size());
  }
  for (std::size_t i = 0; i < most; ++i) {
    for (std::size_t s = 0; s < settings.size(); ++s) {
      if (i < works[s].widths.size()) order.emplace_back(s, i);
    }
  }

  // Every model up to the end of its curve.
  const bool done = for_each_index(
      order.size(), threads,
      [&](std::size_t index, std::size_t) {
        const auto [s, i] = order[index];
        Work& work = works[s];
        if (i > work.end.load()) return;
        work.models[i] = model_of(settings[s], work.widths[i]);
        if (!ends_curve(settings[s], work.models[i].run)) return;
        std::size_t known = work.end.load();
        while (i < known && !work.end.compare_exchange_weak(known, i)) {
        }
      },
      progress, 1);
  if (!done) return std::nullopt;

  // The curves, and for each that ends how long the next model would take.
  std::vector<LimitsCurve> out(settings.size());
  for_each_index(
      settings.size(), threads,
      [&](std::size_t s, std::size_t) { out[s] = finished(settings[s], works[s]); }, {}, 1);
  return out;
}

}  // namespace headway

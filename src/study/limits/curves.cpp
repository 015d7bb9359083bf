#include "study/limits/curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "study/limits/along_widths.hpp"

namespace headway {
namespace {

using limits::Setting;

// Of one width of one setting: the run in the asked form of the step, and in the published one.
struct ModelRuns {
  std::optional<limits::Run> run, published;
};

bool ends_curve(const Setting& setting, const std::optional<limits::Run>& run) {
  return !run || run->utilization < setting.least_utilization;
}

// The published form is never slower, and where its best run takes no longer in the asked form,
// that run is the best of the asked form as well.
ModelRuns model_of(const Setting& setting, std::int64_t d_model) {
  if (setting.as_published) {
    auto run = limits::run_at(setting, d_model);
    return {run, run};
  }
  Setting as_published = setting;
  as_published.as_published = true;
  ModelRuns out;
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

void compare_forms(LimitsCurve& out, const std::vector<ModelRuns>& models) {
  for (const auto& [run, published] : models) {
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

// Whether the wall is what no bandwidth moves, and whether fewer layers would.
void find_shallower(LimitsCurve& out) {
  if (out.curve.runs.empty()) return;
  const limits::StepParts& parts = out.curve.runs.back().step.parts;
  const Seconds latency = parts.kernel_latency + parts.network_latency;
  out.latency_binds = latency > parts.memory + parts.network + parts.bubble;
  if (!out.latency_binds) return;
  const Setting half = with_half_the_layers(out.setting);
  const std::int64_t width =
      width_in_half_the_layers(out.setting, out.curve.first_infeasible->d_model);
  out.shallower = limits::Search(half, limits::shape_of(half, width)).fastest_of_all(half.duration);
}

void find_bill(LimitsCurve& out) {
  static const Result<MachineShop> shop = machine_shop(nullptr);
  const limits::Machine& machine = out.setting.machine;
  if (!shop || out.curve.runs.empty() || !why_no_bill(*shop, machine.name, machine).empty()) return;
  out.bill = bill_of(*shop, machine.name, machine, out.curve.runs.back().gpus);
}

LimitsCurve finished(const Setting& setting, std::vector<ModelRuns>& models) {
  LimitsCurve out;
  out.setting = setting;
  compare_forms(out, models);
  std::vector<std::optional<limits::Run>> runs;
  for (ModelRuns& model : models) runs.push_back(std::move(model.run));
  out.curve = limits::curve_of(setting, std::move(runs));
  out.published_alpha = limits::closed_forms(setting, 0);
  out.implied_alpha = limits::closed_forms(setting, limits::implied_alpha(setting));
  if (out.curve.end == limits::CurveEnd::too_slow) {
    constexpr Seconds kAnyTime{std::numeric_limits<double>::infinity()};
    out.too_slow = limits::Search(setting, *out.curve.first_infeasible).fastest_of_all(kAnyTime);
    find_shallower(out);
  }
  find_bill(out);
  return out;
}

}  // namespace

Setting with_half_the_layers(const Setting& setting) {
  Setting out = setting;
  out.layers.coefficient /= 2;
  return out;
}

std::int64_t width_in_half_the_layers(const Setting& setting, std::int64_t d_model) {
  const double wanted = limits::shape_of(setting, d_model).parameters;
  Setting half = with_half_the_layers(setting);
  half.first_d_model = d_model;
  half.last_d_model = 4 * d_model;
  std::int64_t out = d_model;
  for (const std::int64_t width : limits::widths(half)) {
    const auto off = [&](std::int64_t of) {
      return std::abs(std::log(limits::shape_of(half, of).parameters / wanted));
    };
    if (off(width) < off(out)) out = width;
  }
  return out;
}

std::optional<std::vector<LimitsCurve>> limits_curves(const std::vector<Setting>& settings,
                                                      int threads, const Progress& progress,
                                                      bool smooth) {
  // Every model up to the end of its curve.
  auto models = along_widths<ModelRuns>(
      settings, threads, progress,
      [&](std::size_t s, std::int64_t width) { return model_of(settings[s], width); },
      [&](std::size_t s, const ModelRuns& model) { return ends_curve(settings[s], model.run); });
  if (!models) return std::nullopt;

  // The curves, and for each that ends how long the next model would take; beside them what takes
  // as long as a curve does.
  std::vector<LimitsCurve> out(settings.size());
  std::vector<limits::SmoothLimits> ends(settings.size());
  const std::size_t parts = smooth ? 3 : 1;
  for_each_index(
      parts * settings.size(), threads,
      [&](std::size_t i, std::size_t) {
        const std::size_t s = i / parts;
        if (i % parts == 0) out[s] = finished(settings[s], (*models)[s]);
        if (i % parts == 1) ends[s].linear_scaling = limits::smooth_linear_scaling(settings[s]);
        if (i % parts == 2) ends[s].wall = limits::smooth_wall(settings[s]);
      },
      {}, 1);
  for (std::size_t s = 0; s < out.size() && smooth; ++s) out[s].smooth = ends[s];
  return out;
}

}  // namespace headway

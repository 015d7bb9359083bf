#include "study/limits/transformer_curves.hpp"

#include <utility>

#include "study/limits/along_widths.hpp"

namespace headway {
namespace {

RealCurve finished(LimitsCurve ideal, const Cluster& cluster,
                   std::vector<std::optional<TransformerRun>>& runs) {
  RealCurve out;
  out.cluster = cluster.name;
  out.peak = cluster.accelerator.peak_of(ideal.setting.precision);
  const std::vector<std::int64_t> widths = limits::widths(ideal.setting);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    RealModel model;
    model.shape = limits::shape_of(ideal.setting, widths[i]);
    if (i < ideal.curve.runs.size()) model.ideal = ideal.curve.runs[i];
    model.transformer = std::move(runs[i]);
    out.models.push_back(std::move(model));
  }
  out.ideal = std::move(ideal);
  return out;
}

}  // namespace

const RealModel* RealCurve::last() const {
  const std::size_t count = models.size() - (ends() ? 1 : 0);
  return count > 0 ? &models[count - 1] : nullptr;
}

const RealModel* RealCurve::first_below() const {
  std::vector<double> mfu;
  for (const RealModel& model : models) {
    if (model.transformer) mfu.push_back(model.transformer->forecast.mfu);
  }
  const auto found = end_of_linear_scaling(mfu, ideal.setting.linear_share);
  return found ? &models[*found] : nullptr;
}

std::optional<std::vector<RealCurve>> real_curves(const std::vector<limits::Setting>& settings,
                                                  const std::vector<Cluster>& clusters,
                                                  const std::vector<Calibration>& calibrations,
                                                  int threads, const Progress& progress) {
  // The idealised curves, which take milliseconds.
  auto ideal = limits_curves(settings, threads, {});
  if (!ideal) return std::nullopt;

  // Every transformer up to the first that ends in time on no cluster.
  auto runs = along_widths<std::optional<TransformerRun>>(
      settings, threads, progress,
      [&](std::size_t s, std::int64_t width) {
        return smallest_transformer_cluster(settings[s], limits::shape_of(settings[s], width),
                                            clusters[s], calibrations[s]);
      },
      [](std::size_t, const std::optional<TransformerRun>& run) { return !run; });
  if (!runs) return std::nullopt;

  std::vector<RealCurve> out;
  for (std::size_t s = 0; s < settings.size(); ++s) {
    out.push_back(finished(std::move((*ideal)[s]), clusters[s], (*runs)[s]));
  }
  return out;
}

}  // namespace headway

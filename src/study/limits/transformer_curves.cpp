#include "study/limits/transformer_curves.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace headway {
namespace {

// What is found on several threads: of each width the transformer, and where they end.
struct Work {
  std::vector<std::int64_t> widths;
  std::vector<std::optional<TransformerRun>> runs;
  // The first width without a run, as far as is known; those behind it need not be computed.
  std::atomic<std::size_t> end;
};

RealCurve finished(LimitsCurve ideal, const Cluster& cluster, Work& work) {
  RealCurve out;
  out.cluster = cluster.name;
  out.peak = cluster.accelerator.peak_of(ideal.setting.precision);
  const std::size_t count = std::min(work.end.load() + 1, work.widths.size());
  for (std::size_t i = 0; i < count; ++i) {
    RealModel model;
    model.shape = limits::shape_of(ideal.setting, work.widths[i]);
    if (i < ideal.curve.runs.size()) model.ideal = ideal.curve.runs[i];
    model.transformer = std::move(work.runs[i]);
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

  // All widths of all settings, the narrow ones of each first.
  std::vector<Work> works(settings.size());
  std::vector<std::pair<std::size_t, std::size_t>> order;  // setting, index of the width
  std::size_t most = 0;
  for (std::size_t s = 0; s < settings.size(); ++s) {
    works[s].widths = limits::widths(settings[s]);
    works[s].runs.resize(works[s].widths.size());
    works[s].end = works[s].widths.size();
    most = std::max(most, works[s].widths.size());
  }
  for (std::size_t i = 0; i < most; ++i) {
    for (std::size_t s = 0; s < settings.size(); ++s) {
      if (i < works[s].widths.size()) order.emplace_back(s, i);
    }
  }

  // Every transformer up to the first that ends in time on no cluster.
  const bool done = for_each_index(
      order.size(), threads,
      [&](std::size_t index, std::size_t) {
        const auto [s, i] = order[index];
        Work& work = works[s];
        if (i > work.end.load()) return;
        const limits::Shape shape = limits::shape_of(settings[s], work.widths[i]);
        work.runs[i] =
            smallest_transformer_cluster(settings[s], shape, clusters[s], calibrations[s]);
        if (work.runs[i]) return;
        std::size_t known = work.end.load();
        while (i < known && !work.end.compare_exchange_weak(known, i)) {
        }
      },
      progress, 1);
  if (!done) return std::nullopt;

  std::vector<RealCurve> out;
  for (std::size_t s = 0; s < settings.size(); ++s) {
    out.push_back(finished(std::move((*ideal)[s]), clusters[s], works[s]));
  }
  return out;
}

}  // namespace headway

#include "fit/collectives/traced.hpp"

#include <span>
#include <utility>

#include "base/document/document.hpp"
#include "cost/calibration/network_entries.hpp"
#include "cost/calibration/step_constants.hpp"
#include "fit/collectives/log.hpp"

namespace headway {
namespace {

// Calls of a step as they would be alone: rates reach a share of what they do alone.
void take_out_of_step(CollectiveData& data, const Cluster& cluster,
                      const StepConstants& constants) {
  for (CollectiveMeasurement& row : data.rows) {
    const auto level = static_cast<std::size_t>(crossed_level(row.span, cluster));
    row.time *= constants.network(cluster.levels[level].network).in_step;
  }
}

}  // namespace

std::vector<bool> fit_network_to(Cluster& cluster, const Recording& recording,
                                 const Alignment& alignment) {
  std::vector<bool> out(cluster.levels.size());
  auto logged = logged_collectives(std::span(&recording, 1), cluster, 0, &alignment);
  const auto& constants = step_constants();
  if (!logged || !constants) return out;
  take_out_of_step(logged->data, cluster, *constants);
  const CollectiveFit fit = fit_collectives(logged->data, logged->start);
  for (std::size_t i = 0; i < out.size(); ++i) {
    Level& level = cluster.levels[i];
    const auto fitted = fit.classes.find(level.name);
    if (fitted == fit.classes.end()) continue;
    auto entry = parse_toml(network_fields_text(fitted->second.parameters), "the trace");
    if (!entry) continue;
    level.constants = std::move(entry).value();
    out[i] = true;
  }
  return out;
}

}  // namespace headway

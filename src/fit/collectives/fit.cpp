#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "cost/calibration/network_entries.hpp"
#include "fit/collectives/collectives.hpp"
#include "fit/collectives/knobs.hpp"
#include "fit/minimise.hpp"

namespace headway {
namespace {

using detail::Knob;

constexpr std::size_t kLeastRows = 20;

/// The rows of one class with weights. A system's rows of one operation, size class and number of
/// nodes count together by the root of their number, so that a long scan does not drown a short
/// one.
struct ClassFit {
  const CollectiveData* data = nullptr;
  std::string name;
  std::vector<const CollectiveMeasurement*> rows;
  std::vector<double> weights;                                // sum to 1
  std::vector<Knob> knobs;                                    // those that the rows decide
  std::vector<LevelParameters> parameters;                    // by cluster; inner classes fixed
  std::vector<std::pair<std::size_t, std::size_t>> of_class;  // (cluster, level) of this class
  NetworkParameters varied;
  std::vector<double> start;  // scaled
};

void weigh(ClassFit& task) {
  std::map<std::string, double> count;
  const auto key = [](const CollectiveMeasurement& row) {
    return row.system + "|" + std::string(to_name(row.op)) + "|" +
           to_name(size_range_of(row.bytes)) + "|" + std::to_string(row.nodes);
  };
  for (const auto* row : task.rows) count[key(*row)] += 1;
  double sum = 0;
  for (const auto* row : task.rows) {
    // Messages up to 1 MiB count half: launch noise, and little of a training step's time.
    const double size = size_range_of(row->bytes) == SizeRange::up_to_1mib ? 0.5 : 1.0;
    task.weights.push_back(size / std::sqrt(count[key(*row)]));
    sum += task.weights.back();
  }
  for (double& weight : task.weights) weight /= sum;
}

double loss(ClassFit& task, std::span<const double> scaled) {
  double drawn = 0;
  std::vector<double> values;
  for (std::size_t k = 0; k < scaled.size(); ++k) {
    const Knob& knob = task.knobs[k];
    values.push_back(from_scale(knob, scaled[k]));
    const double spread = knob.row.decades ? std::log(10.0) : 0.5;
    const double away = (scaled[k] - task.start[k]) / spread;
    drawn += away * away;
  }
  set(task.varied, task.knobs, values);
  for (const auto& [cluster, level] : task.of_class) {
    task.parameters[cluster][level] = task.varied;
  }
  double sum = 0;
  for (std::size_t i = 0; i < task.rows.size(); ++i) {
    const CollectiveMeasurement& row = *task.rows[i];
    const Seconds predicted =
        collective_time(row.op, row.bytes, row.span, task.data->clusters[row.cluster],
                        task.parameters[row.cluster]);
    const double error = std::log(std::max(predicted.value(), 1e-12) / row.time.value());
    constexpr double kKnee = 0.1;  // quadratic below 10 %, linear above
    sum += task.weights[i] * (std::sqrt(1 + error * error / (kKnee * kKnee)) - 1) * kKnee;
  }
  // The pull to the start only matters where the rows say nothing.
  return sum + 3e-4 * drawn;
}

/// Bounds and the first step of the search, scaled.
struct Box {
  std::vector<double> lower, upper, step;
};

/// Nelder and Mead on subspaces from `point`, restarted `rounds` times from the best point with
/// shorter steps: the fastest-of-several model has ridges where a simplex stops. Returns the loss.
double search(ClassFit& task, Box box, int rounds, std::vector<double>& best) {
  double best_loss = loss(task, best);
  for (int round = 0; round < rounds; ++round) {
    const Minimum found =
        minimise({SearchBy::subplex, best, box.lower, box.upper, box.step, 0, 1e-5, 4000},
                 [&](std::span<const double> x, double*) { return loss(task, x); });
    if (found.value < best_loss) {
      best_loss = found.value;
      best = found.at;
    }
    for (double& step : box.step) step *= 0.6;
  }
  return best_loss;
}

NetworkParameters fit_class(ClassFit task) {
  weigh(task);
  Box box;
  for (const Knob& knob : task.knobs) {
    box.lower.push_back(to_scale(knob, knob.row.least));
    box.upper.push_back(to_scale(knob, knob.row.most));
    box.step.push_back(knob.row.decades ? 0.5 : 0.1);
    task.start.push_back(to_scale(knob, knob.value));
  }
  // From the start, from one with short hops and gaps and from one with long ones; then on from the
  // best. A gap that is too short to be felt shows no way to a longer one. Exchanges keep their
  // ratio to rings until the last search: with both free at once searches end in worse minima.
  Box first = box;
  for (std::size_t k = 0; k < task.knobs.size(); ++k) {
    if (task.knobs[k].name == detail::kExchangeRatio)
      first.lower[k] = first.upper[k] = task.start[k];
  }
  std::vector<double> best = task.start;
  double best_loss = search(task, first, 2, best);
  for (const double factor : {0.2, 3.0}) {
    std::vector<double> point = task.start;
    for (std::size_t k = 0; k < task.knobs.size(); ++k) {
      const std::string& name = task.knobs[k].name;
      if (!name.ends_with("_hop") && !name.ends_with("_gap")) continue;
      point[k] = std::clamp(point[k] + std::log(factor), box.lower[k], box.upper[k]);
    }
    const double value = search(task, first, 2, point);
    if (value < best_loss) {
      best_loss = value;
      best = point;
    }
  }
  search(task, box, 3, best);
  loss(task, best);  // leaves it in `varied`
  return task.varied;
}

/// The constants of a class before its own fit, when those of the other classes of `fit` stand in
/// networks.toml.
Result<NetworkParameters> borrowed_parameters(CollectiveFit fit, const std::string& name) {
  fit.classes.erase(name);
  const auto fitted = parse_toml(to_toml(fit, ""), "networks.toml");
  if (!fitted) return fitted.problems();
  return estimated_network_parameters(name, &*fitted);
}

}  // namespace

CollectiveFit fit_collectives(const CollectiveData& data, const NetworkClasses& start,
                              Exchanges exchanges) {
  // Classes by the innermost level they are met at: an inner one is fixed before an outer one.
  std::map<std::string, int> depth;
  std::map<std::string, std::vector<const CollectiveMeasurement*>> rows_of;
  for (const auto& row : data.rows) {
    if (!row.fitted_on) continue;
    const std::string& name = outer_class(row, data);
    const int level = crossed_level(row.span, data.clusters[row.cluster]);
    const auto [found, inserted] = depth.emplace(name, level);
    if (!inserted) found->second = std::min(found->second, level);
    rows_of[name].push_back(&row);
  }
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [name, level] : depth) order.emplace_back(level, name);
  std::sort(order.begin(), order.end());

  CollectiveFit fit;
  fit.start = fit.all = start;
  for (const auto& [level, name] : order) {
    if (rows_of[name].size() < kLeastRows) {
      fit.too_few[name] = rows_of[name].size();
      continue;
    }
    FittedNetwork& fitted = fit.classes[name];
    ClassFit task;
    task.data = &data;
    task.name = name;
    task.rows = rows_of[name];
    task.varied = fit.all[name];
    task.knobs = detail::decided_knobs(task.varied, task.rows, data, exchanges, fitted.held);
    for (std::size_t c = 0; c < data.clusters.size(); ++c) {
      task.parameters.push_back(level_parameters(data.clusters[c], fit.all));
      for (std::size_t i = 0; i < data.clusters[c].levels.size(); ++i) {
        if (data.clusters[c].levels[i].network == name) task.of_class.emplace_back(c, i);
      }
    }
    fitted.parameters = fit_class(std::move(task));
    fit.all[name] = fitted.parameters;
  }
  const std::vector<double> errors = collective_errors(data, fit.all);
  std::map<std::string, std::vector<double>> of_class, long_of_class;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const auto& row = data.rows[i];
    const std::string& name = outer_class(row, data);
    const auto found = fit.classes.find(name);
    if (found == fit.classes.end() || !row.fitted_on) continue;
    found->second.systems.insert(row.system);
    found->second.sources.insert(row.source);
    of_class[name].push_back(errors[i]);
    if (size_range_of(row.bytes) != SizeRange::up_to_1mib) long_of_class[name].push_back(errors[i]);
  }
  for (auto& [name, fitted] : fit.classes) {
    fitted.error = summarise(of_class[name]);
    fitted.error_above_1mib = summarise(long_of_class[name]);
  }
  return fit;
}

Result<CollectiveFit> calibrate_collectives(const CollectiveData& data) {
  auto start = estimated_classes(data);
  if (!start) return start.problems();
  const CollectiveFit first = fit_collectives(data, *start, Exchanges::as_rings);
  // What borrows from a fitted class now starts from the fitted constants: those that its own rows
  // do not decide, and where rows cross such a class inside a fitted one (NVLink 5 inside,
  // InfiniBand between), the outer fit depends on it.
  for (auto& [name, parameters] : start.value()) {
    const auto borrowed = borrowed_parameters(first, name);
    if (!borrowed) return borrowed.problems();
    parameters = *borrowed;
  }
  return fit_collectives(data, *start, Exchanges::as_rings);
}

}  // namespace headway

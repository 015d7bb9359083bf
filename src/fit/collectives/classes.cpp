// The constants of network classes: read, in a file, and the errors that they leave.
#include <algorithm>
#include <cmath>

#include "base/document/toml_text.hpp"
#include "base/formatted.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/network_entries.hpp"
#include "fit/collectives/collectives.hpp"

namespace headway {
namespace {

template <class Read>
Result<NetworkClasses> classes_by(const CollectiveData& data, Read read) {
  NetworkClasses classes;
  Problems problems;
  for (const Cluster& cluster : data.clusters) {
    for (const Level& level : cluster.levels) {
      if (classes.count(level.network)) continue;
      const Result<NetworkParameters> parameters = read(level);
      if (!parameters) {
        append(problems, parameters.problems());
      } else {
        classes[level.network] = *parameters;
      }
    }
  }
  if (!problems.empty()) return problems;
  return classes;
}

}  // namespace

std::string to_name(SizeRange size) {
  switch (size) {
    case SizeRange::up_to_1mib:
      return "<= 1 MiB";
    case SizeRange::up_to_64mib:
      return "1-64 MiB";
    case SizeRange::above:
      return "> 64 MiB";
  }
  return "";
}

SizeRange size_range_of(Bytes bytes) {
  if (bytes <= Bytes(1024.0 * 1024.0)) return SizeRange::up_to_1mib;
  return bytes <= Bytes(64 * 1024.0 * 1024.0) ? SizeRange::up_to_64mib : SizeRange::above;
}

Result<NetworkClasses> calibrated_classes(const CollectiveData& data) {
  return classes_by(data, [](const Level& level) { return network_parameters_for(level); });
}

Result<NetworkClasses> estimated_classes(const CollectiveData& data) {
  return classes_by(data,
                    [](const Level& level) { return estimated_network_parameters(level.network); });
}

LevelParameters level_parameters(const Cluster& cluster, const NetworkClasses& classes) {
  LevelParameters parameters;
  for (std::size_t i = 0; i < std::min<std::size_t>(cluster.levels.size(), kMostLevels); ++i) {
    const auto found = classes.find(cluster.levels[i].network);
    if (found != classes.end()) parameters[i] = found->second;
  }
  return parameters;
}

std::vector<double> collective_errors(const CollectiveData& data, const NetworkClasses& classes) {
  std::vector<LevelParameters> parameters;
  for (const Cluster& cluster : data.clusters) {
    parameters.push_back(level_parameters(cluster, classes));
  }
  std::vector<double> errors;
  for (const auto& row : data.rows) {
    errors.push_back(collective_time(row.op, row.bytes, row.span, data.clusters[row.cluster],
                                     parameters[row.cluster]) /
                         row.time -
                     1);
  }
  return errors;
}

std::string to_toml(const CollectiveFit& fit, const std::string& date) {
  std::string text =
      "# Constants of network classes, fitted on data/measurements. Written by\n"
      "# `headway calibrate collectives --write`; fields: docs/models/collectives.md.\n";
  for (const auto& [name, fitted] : fit.classes) {
    text += "\n[" + name + "]\nkind = \"fitted\"\ndate = \"" + date + "\"\n";
    text += "source = \"fitted on data/measurements, rows whose outermost level has this class\"\n";
    text += "systems = " + toml_list(fitted.systems) + "\n";
    text += "sources = " + toml_list(fitted.sources) + "\n";
    if (!fitted.held.empty()) text += "held = " + toml_list(fitted.held) + "\n";
    text += network_fields_text(fitted.parameters);
    text += formatted(
        "residuals = { rows = %zu, median = %.3f, p90 = %.3f, bias = %.3f, rows_above_1mib = %zu, "
        "median_above_1mib = %.3f, p90_above_1mib = %.3f }\n",
        fitted.error.rows, fitted.error.median, fitted.error.p90, fitted.error.bias,
        fitted.error_above_1mib.rows, fitted.error_above_1mib.median, fitted.error_above_1mib.p90);
  }
  return text;
}

}  // namespace headway

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "base/document/toml_text.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/network_entries.hpp"
#include "fit/collectives/collectives.hpp"

namespace headway {
namespace {

// Errors gathered by name, operation and size class; the lines come out sorted by these.
using Gathered = std::map<std::tuple<std::string, CollectiveOp, SizeRange>, std::vector<double>>;

void gather(Gathered& gathered, const std::string& name, const CollectiveMeasurement& row,
            double error) {
  gathered[{name, row.op, size_range_of(row.bytes)}].push_back(error);
}

std::vector<CollectiveErrorLine> lines_of(const Gathered& gathered) {
  std::vector<CollectiveErrorLine> lines;
  for (const auto& [key, errors] : gathered) {
    lines.push_back({std::get<0>(key), std::string(to_name(std::get<1>(key))), std::get<2>(key),
                     summarise(errors)});
  }
  return lines;
}

using RowTest = std::function<bool(const CollectiveMeasurement&)>;

CollectiveData subset(const CollectiveData& data, const RowTest& wanted) {
  CollectiveData chosen;
  chosen.clusters = data.clusters;
  std::copy_if(data.rows.begin(), data.rows.end(), std::back_inserter(chosen.rows), wanted);
  return chosen;
}

// Fits what the rows of `learn` decide, everything else as in `known`; errors on `test`.
void hold_out(Gathered& gathered, const std::string& label, const CollectiveData& data,
              const NetworkClasses& known, const NetworkClasses& start, const std::string& name,
              const RowTest& learn, const RowTest& test) {
  NetworkClasses classes = known;
  classes[name] = start.at(name);
  const auto of_class = [&](const auto& row) { return outer_class(row, data) == name; };
  const auto fit =
      fit_collectives(subset(data, [&](const auto& row) { return of_class(row) && learn(row); }),
                      classes, Exchanges::as_rings);
  const auto errors = collective_errors(data, fit.all);
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const auto& row = data.rows[i];
    if (of_class(row) && test(row)) gather(gathered, label, row, errors[i]);
  }
}

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

std::string table(const std::vector<CollectiveErrorLine>& lines, const char* title) {
  std::vector<std::vector<std::string>> rows = {
      {title, "operation", "size", "rows", "|error| %", "p90 %", "bias %"}};
  for (const auto& line : lines) {
    rows.push_back({line.name, line.op, to_name(line.size), std::to_string(line.error.rows),
                    formatted("%.1f", 100 * line.error.median),
                    formatted("%.1f", 100 * line.error.p90),
                    formatted("%+.1f", 100 * line.error.bias)});
  }
  return aligned(rows, 3);
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

CollectiveReport collective_report(const CollectiveData& data, const NetworkClasses& classes) {
  Gathered gathered;
  const auto errors = collective_errors(data, classes);
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    gather(gathered, data.rows[i].system, data.rows[i], errors[i]);
  }
  CollectiveReport report;
  report.rows = data.rows.size();
  report.lines = lines_of(gathered);
  report.skipped = data.skipped;
  return report;
}

std::vector<CollectiveErrorLine> generalise(const CollectiveData& data,
                                            const NetworkClasses& start) {
  const CollectiveFit whole = fit_collectives(data, start, Exchanges::as_rings);
  Gathered gathered;
  constexpr std::int64_t kFew = 16;
  for (const auto& [name, fitted] : whole.classes) {
    const bool many = std::any_of(data.rows.begin(), data.rows.end(), [&](const auto& row) {
      return outer_class(row, data) == name && row.nodes > kFew;
    });
    if (many) {
      hold_out(
          gathered, "32 nodes and more, from 16 and fewer: " + name, data, whole.all, start, name,
          [](const auto& row) { return row.nodes <= kFew; },
          [](const auto& row) { return row.nodes > kFew; });
    }
    if (fitted.systems.size() < 2) continue;
    for (const std::string& system : fitted.systems) {
      hold_out(
          gathered, system + ", from the other " + name, data, whole.all, start, name,
          [&](const auto& row) { return row.system != system; },
          [&](const auto& row) { return row.system == system; });
    }
  }
  return lines_of(gathered);
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

std::string to_text(const CollectiveReport& report) {
  std::string text = std::to_string(report.rows) +
                     " measured collectives; error = predicted/measured - 1: median and 90 % "
                     "quantile of its size, median with its sign.\n\n";
  text += table(report.lines, "system");
  if (!report.generalisation.empty()) {
    text += "\n" + table(report.generalisation, "predicted, from what");
  }
  for (const auto& skipped : report.skipped) {
    text += formatted("\nleft out: %s, %zu rows: %s", skipped.system.c_str(), skipped.rows,
                      skipped.reason.c_str());
  }
  if (!report.skipped.empty()) text += "\n";
  return text;
}

}  // namespace headway

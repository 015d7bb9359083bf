
#include "base/document/toml_text.hpp"
#include "base/draw/table.hpp"
#include "base/text.hpp"
#include "cost/calibration/network_entries.hpp"
#include "fit/collectives/log.hpp"
#include "fit/statistics.hpp"

namespace headway {
namespace {

std::string quoted(const std::string& text) {
  return toml_text(printable(text, 1000));
}

}  // namespace

std::string to_cluster_toml(const LoggedFit& fit, const Cluster& cluster, const std::string& base,
                            const std::vector<std::string>& logs, const std::string& date) {
  std::string out =
      "# Written by `headway calibrate --collectives`; fields: "
      "docs/models/collectives.md.\n";
  out += "base = " + quoted(base) + "\n";
  out += "title = " + quoted(cluster.title + "; collectives as measured") + "\n";
  std::string fields;
  for (const Level& level : cluster.levels) {
    const auto fitted = fit.fit.classes.find(level.name);
    if (fitted == fit.fit.classes.end()) continue;
    const FittedNetwork& own = fitted->second;
    out += "\n[levels." + level.name + ".constants]\n";
    if (!own.held.empty()) out += "held = " + toml_list(own.held) + "\n";
    out += network_fields_text(own.parameters);
    out += "residuals = { rows = " + std::to_string(own.error.rows) +
           ", median = " + in_percent(own.error.median / 100, "%.3f") +
           ", p90 = " + in_percent(own.error.p90 / 100, "%.3f") +
           ", bias = " + in_percent(own.error.bias / 100, "%.3f") + " }\n";
    fields += (fields.empty() ? "" : ", ") + quoted("levels." + level.name + ".constants");
  }
  if (fields.empty()) return out;
  out += "\n[sources.collectives]\nfields = [" + fields + "]\n";
  out += "source = " + quoted("fitted on " + join(logs, ", ")) + "\n";
  out += "kind = \"fitted\"\ndate = \"" + date + "\"\n";
  return out;
}

std::string to_text(const LoggedFit& fit) {
  std::vector<std::vector<std::string>> rows = {
      {"level", "operation", "size", "sizes", "before", "after", "bias"}};
  for (const LoggedError& error : fit.errors) {
    rows.push_back({printable(error.level, 12), std::string(to_name(error.op)),
                    std::string(kLoggedSizeNames[static_cast<std::size_t>(error.size)]),
                    std::to_string(error.after.rows), in_percent(error.before.median),
                    in_percent(error.after.median), in_percent(error.after.bias, "%+.1f")});
  }
  std::string out = "median error of the model in percent, before and after the fit\n\n";
  out += aligned(rows, 3);
  for (const std::string& warning : fit.warnings) out += "\nnote: " + printable(warning, 2000);
  if (!fit.warnings.empty()) out += "\n";
  return out;
}

}  // namespace headway

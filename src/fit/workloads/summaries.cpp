// What the rows of measured workloads say together: their errors, how they lie about their
// predictions, what others foretell of a round or a maker, and what is kept of a rate.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/statistics.hpp"
#include "fit/workloads/workloads.hpp"

namespace headway {
namespace {

// "mlperf_training_v2.0": rounds of one source are one.
std::string source_of(const BenchmarkRow& row) {
  return row.source_key.substr(0, row.source_key.find("_v"));
}

constexpr std::int64_t kNodeOfEight = 8;
bool on_a_node(const BenchmarkRow& row) {
  return row.ranks <= kNodeOfEight;
}

// Predicted entries of MLPerf.
bool is_entry(const BenchmarkRow& row) {
  return row.measured && row.predicted && row.source_key.starts_with("mlperf");
}

std::string round_of(const BenchmarkRow& row) {
  const std::size_t at = row.source_key.find("_v");
  return at == std::string::npos ? std::string() : row.source_key.substr(at + 1);
}

// ln(measured / predicted), on a node and on more.
using Logs = std::array<std::vector<double>, 2>;

Logs logs_of(std::span<const BenchmarkRow> rows, const auto& holds) {
  Logs out;
  for (const BenchmarkRow& row : rows) {
    if (!is_entry(row) || !holds(row)) continue;
    out[on_a_node(row)].push_back(std::log(*row.measured / *row.predicted));
  }
  return out;
}

}  // namespace

std::vector<WorkloadSpread> workload_spreads(std::span<const BenchmarkRow> rows) {
  struct Gathered {
    std::vector<double> all;
    std::size_t inside = 0;
  };
  std::map<std::pair<std::string, bool>, Gathered> spreads;
  for (const BenchmarkRow& row : rows) {
    if (!row.measured || !row.predicted) continue;
    Gathered& logs = spreads[{source_of(row), on_a_node(row)}];
    logs.all.push_back(std::log(*row.measured / *row.predicted));
    if (row.least && row.most && *row.least <= *row.measured && *row.measured <= *row.most) {
      ++logs.inside;
    }
  }
  std::vector<WorkloadSpread> out;
  for (auto& [name, logs] : spreads) {
    const double all = static_cast<double>(logs.all.size());
    out.push_back({.source = name.first,
                   .node = name.second,
                   .rows = logs.all.size(),
                   .below = -*quantile(logs.all, 0.1),
                   .above = *quantile(logs.all, 0.9),
                   .inside = static_cast<double>(logs.inside) / all});
  }
  return out;
}

std::vector<WorkloadLeftOut> workloads_left_out(std::span<const BenchmarkRow> rows) {
  std::set<std::string> parts;
  const auto names = [](const BenchmarkRow& row) {
    return std::array{"round " + round_of(row), "maker " + row.maker};
  };
  for (const BenchmarkRow& row : rows) {
    if (!is_entry(row)) continue;
    const auto of = names(row);
    parts.insert(of.begin(), of.end());
  }
  std::vector<WorkloadLeftOut> out;
  for (const std::string& name : parts) {
    const auto is_of = [&](const BenchmarkRow& row) {
      const auto of = names(row);
      return std::find(of.begin(), of.end(), name) != of.end();
    };
    const Logs left = logs_of(rows, is_of);
    Logs others = logs_of(rows, [&](const BenchmarkRow& row) { return !is_of(row); });
    std::vector<double> errors;
    std::size_t inside = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i].empty() || others[i].empty()) continue;
      const double low = *quantile(others[i], 0.1), high = *quantile(others[i], 0.9);
      for (const double log : left[i]) {
        errors.push_back(std::exp(-log) - 1);
        if (low <= log && log <= high) ++inside;
      }
    }
    if (errors.empty()) continue;
    const double share = static_cast<double>(inside) / static_cast<double>(errors.size());
    out.push_back({name, summarise(errors), share});
  }
  return out;
}

std::vector<WorkloadScaling> workload_scaling(std::span<const BenchmarkRow> rows) {
  struct Rates {
    std::int64_t most = 0;
    std::vector<double> measured[2], predicted[2];  // on eight, on the most
  };
  std::map<std::array<std::string, 3>, Rates> all;
  const auto key = [](const BenchmarkRow& row) {
    return std::array{row.op, row.machine, round_of(row)};
  };
  for (const BenchmarkRow& row : rows) {
    if (is_entry(row)) all[key(row)].most = std::max(all[key(row)].most, row.ranks);
  }
  for (const BenchmarkRow& row : rows) {
    if (!is_entry(row)) continue;
    Rates& rates = all[key(row)];
    const bool most = row.ranks == rates.most;
    if (rates.most <= 2 * kNodeOfEight || (!most && row.ranks != kNodeOfEight)) continue;
    const double each = row.samples / static_cast<double>(row.ranks);
    rates.measured[most].push_back(each / row.measured->value());
    rates.predicted[most].push_back(each / row.predicted->value());
  }
  std::vector<WorkloadScaling> out;
  for (auto& [name, rates] : all) {
    if (rates.measured[0].empty() || rates.measured[1].empty()) continue;
    const auto kept = [](std::vector<double>(&of)[2]) {
      return *quantile(of[1], 0.5) / *quantile(of[0], 0.5);
    };
    out.push_back(
        {name[0], name[1], name[2], rates.most, kept(rates.measured), kept(rates.predicted)});
  }
  return out;
}

std::vector<WorkloadGroup> workload_groups(std::span<const BenchmarkRow> rows) {
  struct Errors {
    std::size_t rows = 0;
    std::vector<double> all, node;
  };
  std::map<std::pair<std::string, std::string>, Errors> groups;
  Errors total;
  for (const BenchmarkRow& row : rows) {
    for (Errors* each : {&groups[{source_of(row), row.op}], &total}) {
      ++each->rows;
      const auto error = row.error();
      if (!error) continue;
      each->all.push_back(*error);
      if (on_a_node(row)) each->node.push_back(*error);
    }
  }
  std::vector<WorkloadGroup> out;
  for (const auto& [name, errors] : groups) {
    if (errors.all.empty()) continue;
    out.push_back(
        {name.first, name.second, errors.rows, summarise(errors.all), summarise(errors.node)});
  }
  out.push_back({"all", "", total.rows, summarise(total.all), summarise(total.node)});
  return out;
}

}  // namespace headway

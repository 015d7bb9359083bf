#include "fit/collectives/data.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/document/csv.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "cluster/load.hpp"
#include "fit/corpus/measurements.hpp"
#include "trace/recording/operation.hpp"

namespace headway {
namespace {

CollectiveSystem read_system(Fields fields, CollectiveSystems& all, Problems& problems) {
  CollectiveSystem system;
  system.name = fields.text("name");
  system.hardware = fields.text_or("hardware", "");
  system.network = fields.text_or("network", "");
  system.skip = fields.text_or("skip", "");
  system.fitted_on = fields.text_or("only_predicted", "").empty();
  const std::string cluster_name = fields.text_or("cluster", "");
  Fields classes = fields.table("classes");
  if (system.skip.empty()) {
    auto cluster = load_cluster(cluster_name);
    if (!cluster) {
      append(problems, cluster.problems());
    } else {
      for (Level& level : cluster->levels) {
        level.network = classes.text_or(level.name, level.network);
      }
      classes.reject_unknown();
      system.cluster = all.clusters.size();
      all.clusters.push_back(std::move(cluster.value()));
    }
  }
  fields.reject_unknown();
  return system;
}

// Counts rows that are left out, by system and reason.
class Skipped {
 public:
  void add(const std::string& system, const std::string& reason) { ++rows_[{system, reason}]; }
  std::vector<SkippedMeasurements> list() const {
    std::vector<SkippedMeasurements> result;
    for (const auto& [key, rows] : rows_) result.push_back({key.first, key.second, rows});
    return result;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> rows_;
};

// nccl-tests lines: one measurement a row.
void read_lines(const Csv& csv, const CollectiveSystems& systems, CollectiveData& data,
                Skipped& skipped, Problems& problems) {
  const Problems missing = missing_columns(
      csv, {"source", "hardware", "network", "nodes", "ranks", "op", "bytes", "time_us"});
  if (!missing.empty()) return append(problems, missing);
  const auto at = [&](const CsvRow& row, const char* name) -> const std::string& {
    return row.cells[*csv.column(name)];
  };
  for (const CsvRow& row : csv.rows) {
    const Where where(csv.file, row.line);
    const CollectiveSystem* system = systems.of(at(row, "hardware"), at(row, "network"));
    if (!system) {
      problems.push_back({where,
                          "no system of collective_systems.toml has the hardware '" +
                              printable(at(row, "hardware")) + "'",
                          Trouble::unknown});
      continue;
    }
    const auto op = collective_named(at(row, "op"));
    const auto nodes = real_number(at(row, "nodes")), ranks = real_number(at(row, "ranks"));
    const auto bytes = real_number(at(row, "bytes")), time = real_number(at(row, "time_us"));
    if (!system->skip.empty()) {
      skipped.add(system->name, system->skip);
    } else if (!op) {
      skipped.add(system->name, "Headway has no word for the operation " + at(row, "op"));
    } else if (!nodes || !ranks || !bytes || !time || *nodes < 1 || *ranks < *nodes ||
               *bytes <= 0 || *time <= 0) {
      skipped.add(system->name, "nodes, ranks, bytes or time missing or not positive");
    } else {
      const auto n = static_cast<std::int64_t>(*ranks), count = static_cast<std::int64_t>(*nodes);
      data.rows.push_back({at(row, "source"), system->name, system->cluster, *op, Bytes(*bytes),
                           Seconds(*time * 1e-6), count,
                           benchmark_span(n, count, data.clusters[system->cluster]),
                           system->fitted_on});
    }
  }
}

// The scan of Fernandez et al.: a size a row, bus bandwidth in GB/s in a column for each number of
// nodes of 8 ("n4", "n8", ...). Time follows from busbw = 2(n-1)/n · S/T.
void read_scan(const Csv& csv, const CollectiveSystems& systems, CollectiveData& data,
               Problems& problems) {
  const CollectiveSystem* system = systems.of("scan", "");
  const auto sizes = csv.column("size_bytes");
  if (!system || !sizes) {
    problems.push_back(
        {csv.file, "needs the column size_bytes and a system 'scan'", Trouble::missing});
    return;
  }
  for (const CsvRow& row : csv.rows) {
    for (std::size_t i = 0; i < csv.header.size(); ++i) {
      const std::string& name = csv.header[i];
      const auto nodes = name.starts_with("n") ? real_number(name.substr(1)) : std::nullopt;
      const auto bytes = real_number(row.cells[*sizes]), rate = real_number(row.cells[i]);
      if (!nodes || !bytes || !rate || *rate <= 0) continue;
      const double n = 8 * *nodes;
      const auto count = static_cast<std::int64_t>(*nodes);
      data.rows.push_back({"Fernandez et al., arXiv 2411.13055, Fig. 2, digitised", system->name,
                           system->cluster, CollectiveOp::all_reduce, Bytes(*bytes),
                           Seconds(2 * (n - 1) / n * *bytes / (*rate * 1e9)), count,
                           benchmark_span(8 * count, count, data.clusters[system->cluster]),
                           system->fitted_on});
    }
  }
}

// Reads a table; leading comment lines (#) are left out.
std::optional<Csv> read_table(const std::string& data, const char* name, Problems& problems) {
  const auto file = read_measurements(data, name);
  if (!file) {
    append(problems, file.problems());
    return std::nullopt;
  }
  std::string_view body = file->text;
  while (body.starts_with("#")) {
    const std::size_t end = body.find('\n');
    body.remove_prefix(end == body.npos ? body.size() : end + 1);
  }
  auto csv = parse_csv(body, file->path);
  if (!csv) {
    append(problems, csv.problems());
    return std::nullopt;
  }
  return std::move(csv.value());
}

}  // namespace

GroupSpan benchmark_span(std::int64_t ranks, std::int64_t nodes, const Cluster& cluster) {
  GroupSpan span;
  span.ranks = ranks;
  const std::int64_t in_node = std::max<std::int64_t>(1, ranks / std::max<std::int64_t>(1, nodes));
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const bool outermost = i + 1 == cluster.levels.size();
    span.members[i] = outermost ? ranks : std::min(in_node, cluster.levels[i].size);
  }
  span.sharing = span.members;
  return span;
}

const std::string& outer_class(const CollectiveMeasurement& row, const CollectiveData& data) {
  const Cluster& cluster = data.clusters[row.cluster];
  return cluster.levels[static_cast<std::size_t>(crossed_level(row.span, cluster))].network;
}

const CollectiveSystem* CollectiveSystems::of(const std::string& hardware,
                                              const std::string& network) const {
  for (const CollectiveSystem& system : systems) {
    if (hardware.starts_with(system.hardware) && network.starts_with(system.network)) {
      return &system;
    }
  }
  return nullptr;
}

std::optional<CollectiveOp> collective_named(const std::string& name) {
  const auto said = operation_from(name);
  return said ? to_collective(*said) : std::nullopt;
}

Result<CollectiveSystems> load_collective_systems(const std::string& from) {
  Problems problems;
  CollectiveSystems out;
  const auto file = read_measurements(from, "collective_systems.toml");
  if (!file) return file.problems();
  const auto document = parse_toml(file->text, file->path);
  if (!document) return document.problems();
  Fields root(*document, problems);
  for (Fields& fields : root.tables("system")) {
    out.systems.push_back(read_system(std::move(fields), out, problems));
  }
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

Result<CollectiveData> load_collective_data(const std::string& from) {
  auto systems = load_collective_systems(from);
  if (!systems) return systems.problems();
  Problems problems;
  CollectiveData data;
  data.clusters = systems->clusters;
  Skipped skipped;
  for (const char* name : {"collectives.csv", "collectives_reported.csv"}) {
    const auto csv = read_table(from, name, problems);
    if (csv) read_lines(*csv, *systems, data, skipped, problems);
  }
  const auto scan = read_table(from, "nccl_allreduce_h100_scan.csv", problems);
  if (scan) read_scan(*scan, *systems, data, problems);
  if (!problems.empty()) return problems;
  data.skipped = skipped.list();
  return data;
}

}  // namespace headway

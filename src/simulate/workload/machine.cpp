// A cluster as ASTRA-sim describes one: a dimension for each level, in the order of the ranks.
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "cost/calibration/calibration.hpp"
#include "simulate/workload/files.hpp"

namespace headway {
namespace {

struct AstraDimension {
  std::int64_t ranks;
  double gib_per_second, nanoseconds;
};

Result<std::vector<AstraDimension>> dimensions_of(const Run& run) {
  const std::int64_t total = run.layout.ranks();
  const auto domains = domains_in_use(run.cluster, total);
  const auto no = [](std::string why) {
    return Problem{FieldName("chakra"), std::move(why), Trouble::unsupported};
  };
  std::vector<AstraDimension> out;
  std::int64_t inside = 1;
  for (std::size_t i = 0; i < run.cluster.levels.size() && inside < total; ++i) {
    const Level& level = run.cluster.levels[i];
    const std::int64_t ranks = std::min(domains[i], total);
    if (ranks == inside) continue;
    if (level.topology != Topology::switched) {
      return no("no network.yml: " + level.name +
                " is no switch, and a torus or mesh is none of "
                "ASTRA-sim's dimensions that share a rank's bandwidth");
    }
    if (ranks % inside != 0 || total % ranks != 0) {
      return no("no network.yml: the " + std::to_string(total) + " ranks fill domains of " +
                level.name + " unevenly");
    }
    const auto constants = network_parameters_for(level);
    if (!constants) return constants.problems();
    const double rate =
        level.bandwidth.value() * let_through(level) * constants->bandwidth_efficiency;
    out.push_back({ranks / inside, rate / (1024.0 * 1024 * 1024), level.latency.value() * 1e9});
    inside = ranks;
  }
  return out;
}

template <class Text>
std::string list_of(const std::vector<AstraDimension>& dimensions, Text&& text) {
  std::vector<std::string> parts;
  for (const AstraDimension& each : dimensions) parts.push_back(text(each));
  return "[" + join(parts, ", ") + "]";
}

}  // namespace

Result<std::vector<WorkloadFile>> machine_files(const Run& run) {
  const auto dimensions = dimensions_of(run);
  if (!dimensions) return dimensions.problems();
  const auto all = [&](const char* word) {
    return list_of(*dimensions, [&](const AstraDimension&) { return std::string(word); });
  };
  const std::string network =
      "# Bandwidth in GiB/s, which is how ASTRA-sim reads it: what long messages reach on a "
      "level.\n"
      "topology: " +
      all("Switch") + "\nnpus_count: " +
      list_of(*dimensions, [](const AstraDimension& d) { return std::to_string(d.ranks); }) +
      "\nbandwidth: " +
      list_of(*dimensions,
              [](const AstraDimension& d) { return formatted("%.6g", d.gib_per_second); }) +
      "\nlatency: " +
      list_of(*dimensions,
              [](const AstraDimension& d) { return formatted("%.6g", d.nanoseconds); }) +
      "\n";
  const Accelerator& accelerator = run.cluster.accelerator;
  const std::string ring = all("\"ring\""), direct = all("\"direct\"");
  const std::string system =
      "{\n  \"scheduling-policy\": \"FIFO\",\n  \"endpoint-delay\": 0,\n"
      "  \"active-chunks-per-dimension\": 1,\n  \"preferred-dataset-splits\": 4,\n"
      "  \"all-reduce-implementation\": " +
      ring + ",\n  \"all-gather-implementation\": " + ring +
      ",\n  \"reduce-scatter-implementation\": " + ring +
      ",\n  \"all-to-all-implementation\": " + direct +
      ",\n  \"collective-optimization\": \"localBWAware\",\n  \"local-mem-bw\": " +
      formatted("%.6g", accelerator.memory_bandwidth.value() / 1e9) + ",\n  \"peak-perf\": " +
      formatted("%.6g", accelerator.peak_of(Precision::bf16).value() / 1e12) +
      ",\n  \"roofline-enabled\": 0,\n  \"boost-mode\": 0\n}\n";
  return std::vector<WorkloadFile>{
      {"network.yml", network},
      {"system.json", system},
      {"memory.json", "{\n  \"memory-type\": \"NO_MEMORY_EXPANSION\"\n}\n"}};
}

}  // namespace headway

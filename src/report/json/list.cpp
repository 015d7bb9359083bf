#include "report/list.hpp"

#include <array>
#include <cmath>

#include "cluster/load.hpp"
#include "limits/load.hpp"
#include "method/methods.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

Json json_of(double number) {
  if (number == std::floor(number)) return static_cast<std::int64_t>(number);
  return number;
}

Json level_numbers(const limits::Level& level, bool outermost) {
  const double bandwidth = level.bandwidth.value();
  return {{"name", level.name},
          {"size", outermost ? Json(nullptr) : Json(level.size)},
          {"bytes_per_s", std::isfinite(bandwidth) ? Json(bandwidth) : Json(nullptr)},
          {"latency_s", level.latency.value()}};
}

// Rates by format; what is not supported is left out.
Json peak_numbers(const std::array<FlopsPerSecond, kPrecisions>& rates) {
  Json out = Json::object();
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] > FlopsPerSecond()) out[std::string(kPrecisionNames[i])] = rates[i].value();
  }
  return out;
}

Json cluster_numbers(const Cluster& cluster) {
  Json levels = Json::array();
  for (const Level& level : cluster.levels) {
    levels.push_back({{"name", level.name},
                      {"size", level.size},
                      {"bytes_per_s", level.bandwidth.value()},
                      {"latency_s", level.latency.value()}});
  }
  const Accelerator& accelerator = cluster.accelerator;
  return {{"name", cluster.name},
          {"title", cluster.title},
          {"peak_flop_per_s", peak_numbers(accelerator.peak)},
          {"memory_bytes", accelerator.memory.value()},
          {"memory_bytes_per_s", accelerator.memory_bandwidth.value()},
          {"levels", levels}};
}

Json machine_numbers(const limits::Machine& machine) {
  const limits::Gpu& gpu = machine.gpu;
  const Json peak = peak_numbers(gpu.peak);
  // FLOPs for each byte of memory that take as long as it, by format.
  Json intensity = Json::object();
  if (std::isfinite(gpu.memory_bandwidth.value())) {
    for (const auto& [precision, rate] : peak.items()) {
      intensity[precision] = rate.get<double>() / gpu.memory_bandwidth.value();
    }
  }
  Json levels = Json::array();
  for (const limits::Level& level : machine.levels) {
    levels.push_back(level_numbers(level, &level == &machine.levels.back()));
  }
  return {{"name", machine.name},
          {"title", machine.title},
          {"stands_for", machine.stands_for.empty() ? Json(nullptr) : Json(machine.stands_for)},
          {"peak_flop_per_s", peak},
          {"flop_per_byte", intensity},
          {"sustained_share", gpu.sustained},
          {"compute_units", gpu.compute_units},
          {"register_blocks", gpu.register_blocks},
          {"registers_bytes", gpu.registers.value()},
          {"shared_bytes_per_s", gpu.shared_bandwidth.value()},
          {"l2_bytes_per_s", gpu.l2_bandwidth.value()},
          {"l2_bytes", gpu.l2.value()},
          {"memory_bytes_per_s", gpu.memory_bandwidth.value()},
          {"memory_bytes", gpu.memory.value()},
          {"kernel_latency_s", gpu.kernel_latency.value()},
          {"levels", levels}};
}

}  // namespace

std::string names_json(const std::string& kind, const std::vector<std::string>& names) {
  return document_text({{kind, names}});
}

std::string methods_json() {
  std::vector<std::string> names;
  Json numbers = Json::array();
  for (const MethodRow& row : methods()) {
    names.push_back(row.name);
    Json usual = Json::object();
    for (const std::string& name : row.fields) {
      const MethodField& field = *method_field(name);
      const double number = field.get(row.usual);
      const bool named = field.form == MethodField::Form::compressor;
      usual[name] = named                   ? Json(row_of(row.usual.compression.by).name)
                    : number >= field.least ? json_of(number)
                                            : Json(nullptr);
    }
    numbers.push_back({{"name", row.name},
                       {"title", row.title},
                       {"what", row.what},
                       {"meeting", kMeetingNames[static_cast<std::size_t>(row.usual.meeting)]},
                       {"usual", usual},
                       {"sample_penalty", row.sample_penalty},
                       {"penalty", row.penalty},
                       {"source", row.source}});
  }
  return document_text({{"methods", names}, {"method_numbers", numbers}});
}

std::string clusters_json() {
  const std::vector<std::string> names = cluster_names();
  Json numbers = Json::array();
  for (const std::string& name : names) {
    if (const auto cluster = load_cluster(name)) numbers.push_back(cluster_numbers(*cluster));
  }
  return document_text({{"clusters", names}, {"cluster_numbers", numbers}});
}

std::string machines_json() {
  Json names = Json::array();
  Json numbers = Json::array();
  for (const std::string& name : limits::machine_names()) {
    const auto machine = limits::embedded_machine(name);
    if (!machine) continue;  // a test reads every embedded machine
    names.push_back(name);
    numbers.push_back(machine_numbers(*machine));
  }
  return document_text({{"machines", names}, {"numbers", numbers}});
}

std::string given_json(const RunRequest& fields, const std::vector<std::string>& notes) {
  Json given = Json::object();
  for (const GivenField& field : fields) {
    given[field.name] = field.document ? node_json(field.document->root) : Json(field.text);
  }
  return document_text({{"given", given}, {"notes", notes}});
}

}  // namespace headway

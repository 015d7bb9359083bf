#include "report/list.hpp"

#include <cmath>

#include "limits/load.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

Json level_numbers(const limits::Level& level, bool outermost) {
  const double bandwidth = level.bandwidth.value();
  return {{"name", level.name},
          {"size", outermost ? Json(nullptr) : Json(level.size)},
          {"bytes_per_s", std::isfinite(bandwidth) ? Json(bandwidth) : Json(nullptr)},
          {"latency_s", level.latency.value()}};
}

Json machine_numbers(const limits::Machine& machine) {
  const limits::Gpu& gpu = machine.gpu;
  Json peak = Json::object();
  for (int i = 0; i < kPrecisions; ++i) {
    if (gpu.peak[i] > FlopsPerSecond()) {
      peak[std::string(kPrecisionNames[i])] = gpu.peak[i].value();
    }
  }
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

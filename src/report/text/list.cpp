#include "report/list.hpp"

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "cluster/load.hpp"
#include "limits/load.hpp"
#include "model/count.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

std::string billions(std::int64_t count) {
  const std::string text = formatted("%.4g", static_cast<double>(count) / 1e9);
  return std::string(text) + " B parameters";
}

}  // namespace

std::string description_of(std::string_view kind, const std::string& name) {
  if (kind == "models") {
    const auto model = load_model(name);
    if (!model) return {};
    const Parameters counted = parameters(*model);
    std::string out = billions(counted.total);
    if (counted.active < counted.total) out += ", " + billions(counted.active) + " active";
    return out + ", " + std::to_string(model->layers()) + " layers of " +
           std::to_string(model->hidden);
  }
  if (kind == "clusters") {
    const auto cluster = load_cluster(name);
    return cluster ? cluster->title : std::string();
  }
  if (kind == "machines") {
    const auto machine = limits::embedded_machine(name);
    return machine ? machine->title : std::string();
  }
  const auto accelerator = load_accelerator(name);
  if (!accelerator) return {};
  return accelerator->title + ", " + to_text(accelerator->memory) + " at " +
         to_text(accelerator->memory_bandwidth);
}

}  // namespace headway

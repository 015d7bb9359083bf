#include "report/list.hpp"

#include <cmath>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "cluster/load.hpp"
#include "limits/load.hpp"
#include "method/methods.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

std::string billions(std::int64_t count) {
  const std::string text = formatted("%.4g", static_cast<double>(count) / 1e9);
  return std::string(text) + " B parameters";
}

// "; FLOP/B: bf16 295, fp8 590 (MAC/B half)": the products of how many FLOPs a byte are as long as
// its reading; a multiplication with its addition counts as two.
template <class Accelerator>
std::string intensities(const Accelerator& accelerator) {
  std::string out;
  if (!std::isfinite(accelerator.memory_bandwidth.value())) return out;
  for (int i = 0; i < kPrecisions; ++i) {
    const double peak = accelerator.peak[static_cast<std::size_t>(i)].value();
    if (!(peak > 0)) continue;
    const double flops = peak / accelerator.memory_bandwidth.value();
    out += (out.empty() ? "; FLOP/B: " : ", ") + std::string(kPrecisionNames[i]) +
           formatted(flops < 100 ? " %.3g" : " %.0f", flops);
  }
  if (!out.empty()) out += " (MAC/B: half)";
  return out;
}

}  // namespace

std::string description_of(std::string_view kind, const std::string& name) {
  if (kind == "models") {
    const auto model = load_model(name);
    if (!model) return {};
    const Parameters counted = parameters(*model);
    std::string out = billions(counted.total);
    if (counted.active < counted.total) out += ", " + billions(counted.active) + " active";
    if (model->is_network()) return out + ", a sample is one " + model->sample;
    return out + ", " + std::to_string(model->layers()) + " layers of " +
           std::to_string(model->hidden);
  }
  if (kind == "clusters") {
    const auto cluster = load_cluster(name);
    return cluster ? cluster->title : std::string();
  }
  if (kind == "machines") {
    const auto machine = limits::embedded_machine(name);
    return machine ? machine->title + intensities(machine->gpu) : std::string();
  }
  if (kind == "methods") {
    const MethodRow* row = method_row(name);
    if (row == nullptr) return {};
    std::string fields;
    for (const std::string& field : row->fields) fields += (fields.empty() ? "; " : ", ") + field;
    return row->title + ": " + row->what + fields;
  }
  const auto accelerator = load_accelerator(name);
  if (!accelerator) return {};
  return accelerator->title + ", " + to_text(accelerator->memory) + " at " +
         to_text(accelerator->memory_bandwidth) + intensities(*accelerator);
}

}  // namespace headway

#include <cmath>

#include "limits/search/sensitivity.hpp"

namespace headway::limits {
namespace {

// The number as a place in the setting, in SI units. Integers and the batch in tokens apart.
template <class S>
auto* place(S& setting, Number number) {
  switch (number) {
    case Number::sustained:
      return &setting.machine.gpu.sustained;
    case Number::tokens_per_parameter:
      return &setting.tokens_per_parameter;
    case Number::batch_tokens:
      return &setting.batch.tokens;
    case Number::batch_exponent:
      return &setting.batch.exponent;
    case Number::layers_coefficient:
      return &setting.layers.coefficient;
    case Number::layers_exponent:
      return &setting.layers.exponent;
    case Number::experts:
      return &setting.sparsity.experts;
    default:
      return &setting.sparsity.exponent;
  }
}

// Calls body(quantity or number).
template <class S, class Body>
auto at(S& setting, const Knob& knob, const Body& body) {
  auto& gpu = setting.machine.gpu;
  switch (knob.number) {
    case Number::peak:
      return body(gpu.peak[static_cast<std::size_t>(setting.precision)]);
    case Number::registers:
      return body(gpu.registers);
    case Number::shared_bandwidth:
      return body(gpu.shared_bandwidth);
    case Number::l2_bandwidth:
      return body(gpu.l2_bandwidth);
    case Number::l2:
      return body(gpu.l2);
    case Number::memory_bandwidth:
      return body(gpu.memory_bandwidth);
    case Number::memory:
      return body(gpu.memory);
    case Number::kernel_latency:
      return body(gpu.kernel_latency);
    case Number::level_size:
      return body(setting.machine.levels[knob.level].size);
    case Number::level_bandwidth:
      return body(setting.machine.levels[knob.level].bandwidth);
    case Number::level_latency:
      return body(setting.machine.levels[knob.level].latency);
    case Number::duration:
      return body(setting.duration);
    default:
      return body(*place(setting, knob.number));
  }
}

double in_si(double value) {
  return value;
}
double in_si(std::int64_t value) {
  return static_cast<double>(value);
}
template <int T, int B, int F, int J>
double in_si(Quantity<T, B, F, J> value) {
  return value.value();
}

}  // namespace

bool is_hardware(const Knob& knob) {
  return knob.number < Number::duration;
}

bool less_is_better(const Knob& knob) {
  return knob.number == Number::kernel_latency || knob.number == Number::level_latency;
}

std::string name_of(const Setting& setting, const Knob& knob) {
  const auto of_level = [&](const char* what) {
    return std::string(what) + " of level " + setting.machine.levels[knob.level].name;
  };
  switch (knob.number) {
    case Number::peak:
      return "peak";
    case Number::sustained:
      return "sustained share";
    case Number::registers:
      return "registers";
    case Number::shared_bandwidth:
      return "shared memory bandwidth";
    case Number::l2_bandwidth:
      return "L2 bandwidth";
    case Number::l2:
      return "L2 size";
    case Number::memory_bandwidth:
      return "memory bandwidth";
    case Number::memory:
      return "memory size";
    case Number::kernel_latency:
      return "kernel latency";
    case Number::level_size:
      return of_level("size");
    case Number::level_bandwidth:
      return of_level("bandwidth");
    case Number::level_latency:
      return of_level("latency");
    case Number::duration:
      return "duration";
    case Number::tokens_per_parameter:
      return "tokens per parameter";
    case Number::batch_tokens:
      return "batch";
    case Number::batch_exponent:
      return "exponent of the batch";
    case Number::layers_coefficient:
      return "layers";
    case Number::layers_exponent:
      return "exponent of the layers";
    case Number::experts:
      return "experts";
    case Number::experts_exponent:
      return "exponent of the experts";
  }
  return "";
}

std::vector<Knob> knobs_of(const Setting& setting) {
  std::vector<Knob> out;
  for (int i = 0; i <= static_cast<int>(Number::kernel_latency); ++i) {
    out.push_back({static_cast<Number>(i), 0});
  }
  const std::vector<Level>& levels = setting.machine.levels;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (level + 1 < levels.size()) out.push_back({Number::level_size, level});
    if (std::isfinite(levels[level].bandwidth.value())) {
      out.push_back({Number::level_bandwidth, level});
    }
    out.push_back({Number::level_latency, level});
  }
  out.push_back({Number::duration, 0});
  out.push_back({Number::tokens_per_parameter, 0});
  out.push_back({Number::batch_tokens, 0});
  if (!setting.batch.constant) out.push_back({Number::batch_exponent, 0});
  out.push_back({Number::layers_coefficient, 0});
  out.push_back({Number::layers_exponent, 0});
  if (setting.sparsity.sparse) {
    out.push_back({Number::experts, 0});
    out.push_back({Number::experts_exponent, 0});
  }
  return out;
}

double value_of(const Setting& setting, const Knob& knob) {
  return at(setting, knob, [](const auto& place) { return in_si(place); });
}

std::optional<Setting> scaled(const Setting& setting, const Knob& knob, double factor) {
  Setting out = setting;
  if (knob.number == Number::level_size) {
    std::vector<Level>& levels = out.machine.levels;
    Level& level = levels[knob.level];
    level.size = std::llround(static_cast<double>(level.size) * factor);
    const std::int64_t inside = knob.level > 0 ? levels[knob.level - 1].size : 1;
    const bool inner = knob.level + 2 < levels.size();
    if (level.size <= inside || (inner && level.size >= levels[knob.level + 1].size)) {
      return std::nullopt;
    }
    return out;
  }
  at(out, knob, [&](auto& place) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(place)>, std::int64_t>) place *= factor;
  });
  if (knob.number == Number::sustained && out.machine.gpu.sustained > 1) return std::nullopt;
  return out;
}

}  // namespace headway::limits

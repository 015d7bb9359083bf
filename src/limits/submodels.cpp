#include <cmath>

#include "limits/low_communication.hpp"

namespace headway::limits {
namespace {

constexpr int kMostDoublings = 60;

}  // namespace

// [LIMIT-30] Independent subnetworks: every H steps the hidden neurons of each block are dealt anew
// to n groups of GPUs. In between a group trains a model of width d_ff/n and N/n parameters on all
// D tokens, so the groups together do the FLOP of the whole model; nothing else joins them. At an
// exchange each of a group's GPUs sends and receives its share of the N/n words over the outermost
// level:  2 (N/n) w / (GPUs of the group x B) / H  and  2 lat / H  in each step.
// A bound: that no group sees the other neurons costs nothing but the stated penalty.
std::optional<Run> smallest_of_submodels(const Setting& setting, const Shape& shape) {
  const std::int64_t groups = setting.relaxation.submodels;
  if (shape.d_ff % groups != 0) return std::nullopt;
  const double share = 1 / static_cast<double>(groups);
  Shape of_group = shape;
  of_group.d_ff = shape.d_ff / groups;
  of_group.parameters *= share;
  of_group.training = shape.training * share;
  of_group.learned = shape.learned * share;

  Setting inside = setting;  // a group's own replicas stay in step
  inside.relaxation.sync_every = 1;
  inside.relaxation.submodels = 1;
  const double every = setting.relaxation.sync_every;
  const Level& outermost = setting.machine.levels.back();
  const Bytes words(2 * of_group.parameters * bytes_per_element(setting.precision));
  const FlopsPerSecond rate =
      setting.machine.gpu.sustained * setting.machine.gpu.peak_of(setting.precision);
  const double least = of_group.training / (setting.duration * rate);
  Search search(inside, of_group);
  for (int i = 0; i < kMostDoublings; ++i) {
    const double gpus = std::ldexp(static_cast<double>(shape.experts), i);
    if (gpus < least) continue;
    if (gpus * static_cast<double>(groups) > std::ldexp(1.0, kMostDoublings)) break;
    const Seconds moving = words / (gpus * outermost.bandwidth) / every;
    const Seconds waiting = 2 * outermost.latency / every;
    const Seconds left = setting.duration - steps_of(shape) * (moving + waiting);
    if (left <= Seconds()) continue;
    std::optional<Run> run = search.fastest(static_cast<std::int64_t>(gpus), left);
    if (!run) continue;
    run->shape = shape;
    run->gpus *= groups;
    run->step.network.data += moving;
    run->step.network.data_latency += waiting;
    run->step.parts.network += moving;
    run->step.parts.network_latency += waiting;
    run->step.total += moving + waiting;
    run->duration = run->step.total * steps_of(shape);
    run->utilization = utilization(setting, shape, run->gpus, run->step.total);
    return run;
  }
  return std::nullopt;
}

}  // namespace headway::limits

#include "limits/search/submodels.hpp"

namespace headway::limits {
namespace {

// A group's own replicas stay in step.
Setting inside_of(Setting setting) {
  setting.relaxation.sync_every = 1;
  setting.relaxation.submodels = 1;
  return setting;
}

Shape shape_of_group(const Setting& setting, Shape shape) {
  const std::int64_t groups = setting.relaxation.submodels;
  const double share = 1 / static_cast<double>(groups);
  shape.d_ff /= groups;
  shape.parameters *= share;
  shape.training = shape.training * share;
  shape.learned = shape.learned * share;
  return shape;
}

}  // namespace

Submodels::Submodels(const Setting& setting, const Shape& shape)
    : setting_(setting),
      shape_(shape),
      inside_(inside_of(setting)),
      of_group_(shape_of_group(setting, shape)),
      search_(inside_, of_group_) {}

// [LIMIT-30] Independent subnetworks: every H steps the hidden neurons of each block are dealt anew
// to n groups of GPUs. In between a group trains a model of width d_ff/n and N/n parameters on all
// D tokens, so the groups together do the FLOP of the whole model; nothing else joins them. At an
// exchange each of a group's GPUs sends and receives its share of the N/n words over the outermost
// level:  2 (N/n) w / (GPUs of the group x B) / H  and  2 lat / H  in each step.
// A bound: that no group sees the other neurons costs nothing but the stated penalty.
std::optional<Run> Submodels::fastest(std::int64_t gpus, Seconds duration) {
  const std::int64_t groups = setting_.relaxation.submodels;
  if (shape_.d_ff % groups != 0 || gpus % (groups * shape_.experts) != 0) return std::nullopt;
  const double every = setting_.relaxation.sync_every;
  const Level& outermost = setting_.machine.levels.back();
  const Bytes words(2 * of_group_.parameters * bytes_per_element(setting_.precision));
  const Seconds moving = words / (static_cast<double>(gpus / groups) * outermost.bandwidth) / every;
  const Seconds waiting = 2 * outermost.latency / every;
  const Seconds left = duration - steps_of(shape_) * (moving + waiting);
  if (left <= Seconds()) return std::nullopt;
  std::optional<Run> run = search_.fastest(gpus / groups, left);
  if (!run) return std::nullopt;
  run->shape = shape_;
  run->gpus = gpus;
  run->step.network.data += moving;
  run->step.network.data_latency += waiting;
  run->step.parts.network += moving;
  run->step.parts.network_latency += waiting;
  run->step.total += moving + waiting;
  run->duration = run->step.total * steps_of(shape_);
  run->utilization = utilization(setting_, shape_, gpus, run->step.total);
  return run;
}

}  // namespace headway::limits

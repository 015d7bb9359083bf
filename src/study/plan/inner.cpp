#include "study/plan/inner.hpp"

#include <algorithm>

#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

InnerChoice pipe_of(const InnerChoice& c) {
  return {.schedule = c.schedule, .vpp = c.vpp};
}
InnerChoice shard_of(const InnerChoice& c) {
  return {.zero = c.zero,
          .reshard = c.reshard,
          .overlap_gradients = c.overlap_gradients,
          .overlap_parameters = c.overlap_parameters,
          .offload_parameters = c.offload_parameters,
          .offload_optimizer = c.offload_optimizer};
}

std::uint32_t place_of(std::vector<InnerChoice>& list, const InnerChoice& choice) {
  const auto at = std::find(list.begin(), list.end(), choice);
  const auto place = static_cast<std::uint32_t>(at - list.begin());
  if (at == list.end()) list.push_back(choice);
  return place;
}

bool same_saved(const InnerChoice& a, const InnerChoice& b) {
  return a.recompute == b.recompute && a.recompute_every == b.recompute_every &&
         a.offload_activations == b.offload_activations;
}

bool sharded(const InnerChoice& choice, const Job& job) {
  Layout layout;
  apply(choice, layout);
  return shards_weights(job, layout);
}

bool same_blocks(const InnerChoice& a, const InnerChoice& b, const Job& job) {
  if (!same_saved(a, b) || sharded(a, job) != sharded(b, job)) return false;
  return !sharded(a, job) || (a.zero == b.zero && a.reshard == b.reshard &&
                              a.overlap_gradients == b.overlap_gradients &&
                              a.overlap_parameters == b.overlap_parameters &&
                              a.offload_parameters == b.offload_parameters);
}

}  // namespace

bool is_inner(const PlanLimit& limit) {
  return limit.field != nullptr && limit.field->axis == PlanAxis::inner;
}

double waits_of(const InnerChoice& choice) {
  return fills_bubble(choice.schedule) ? 0.0 : 1 / static_cast<double>(choice.vpp);
}

double rounds(std::int64_t micro_batches, std::int64_t stages, double waits) {
  return (static_cast<double>(micro_batches) - waits) / static_cast<double>(stages) + waits;
}

InnerShape::InnerShape(const std::vector<InnerChoice>& list, const Job& job) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    pipe.push_back(place_of(pipes, pipe_of(list[i])));
    shard.push_back(place_of(shards, shard_of(list[i])));
    if (groups.empty() || !same_blocks(list[groups.back().begin], list[i], job)) {
      const bool anew = groups.empty() || !same_saved(list[groups.back().begin], list[i]);
      groups.push_back({i, i, anew, {}});
    }
    groups.back().end = i + 1;
    std::vector<InnerPart>& of_group = groups.back().parts;
    auto part = std::find_if(of_group.begin(), of_group.end(),
                             [&](const InnerPart& p) { return p.pipe == pipe.back(); });
    if (part == of_group.end()) {
      part = of_group.insert(part, {pipe.back(), parts++, {}});
    }
    part->choices.push_back(i);
    waits = std::min(waits, waits_of(list[i]));
  }
}

InnerWanted::InnerWanted(const std::vector<InnerChoice>& list, const InnerShape& shape,
                         Layout layout, std::span<const PlanLimit> limits)
    : choices(list.size()), groups(shape.groups.size()), parts(shape.parts) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    apply(list[i], layout);
    for (std::size_t seeker = 0; seeker < limits.size(); ++seeker) {
      if (is_inner(limits[seeker]) && !limits[seeker].passes(layout)) continue;
      choices[i] |= Seekers{1} << seeker;
    }
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const InnerPart& part : shape.groups[group].parts) {
      for (const std::size_t i : part.choices) parts[part.number] |= choices[i];
      groups[group] |= parts[part.number];
    }
  }
}

}  // namespace headway

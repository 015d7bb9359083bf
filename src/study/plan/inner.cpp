#include "study/plan/inner.hpp"

#include <algorithm>
#include <cmath>

#include "study/plan/keys.hpp"

namespace headway {
namespace {

// A choice as a layout of several ranks has it.
Layout layout_of(const InnerChoice& choice) {
  Layout out;
  out.dp = 2;
  apply(choice, out);
  return out;
}

template <class Part>
std::uint32_t place_of(std::vector<Part>& list, const Part& part) {
  const auto at = std::find(list.begin(), list.end(), part);
  const auto place = static_cast<std::uint32_t>(at - list.begin());
  if (at == list.end()) list.push_back(part);
  return place;
}

bool same_saved(const Layout& a, const Layout& b) {
  return static_cast<const Recomputation&>(a) == static_cast<const Recomputation&>(b) &&
         a.offload_activations == b.offload_activations;
}

}  // namespace

bool is_inner(const PlanLimit& limit) {
  return limit.field != nullptr && limit.field->axis == PlanAxis::inner;
}

double waits_of(const PipelineSplit& pipeline) {
  return fills_bubble(pipeline.schedule) ? 0.0 : 1 / static_cast<double>(pipeline.vpp);
}

double rounds(std::int64_t micro_batches, std::int64_t stages, double waits) {
  const double m = static_cast<double>(micro_batches), p = static_cast<double>(stages);
  const double busy = m / p;  // the slowest stage has at least the mean
  if (waits == 0 || stages == 1) return busy;
  const double chunks = std::round(1 / waits), slots = m * chunks;
  // All stages once, and then the longest of passes before and after it: half of both at least.
  const double first = (chunks - 1) * std::min(m, p);  // forward chunks of the last stage before
  const double once = (1 + (slots - 1 + first) / (2 * p)) / chunks;
  if (chunks == 1) return m > p ? (m - 1) / p + 1 : std::max(busy, once);
  if (slots < (chunks + 1) * p) return std::max(busy, once);
  const double turned = std::sqrt((slots - 2 * p - 1) / (slots - 1));
  return std::max({busy, once, (1 + 1 / (1 - turned)) / chunks});
}

Layout shard_of(Layout layout) {
  static_cast<PipelineSplit&>(layout) = {};
  static_cast<Recomputation&>(layout) = {};
  layout.offload_activations = false;
  layout.overlap_experts = Choice::framework;
  return layout;
}

InnerShape::InnerShape(const std::vector<InnerChoice>& list, const Job& job) {
  Layout before;  // the choice before in the list
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Layout layout = layout_of(list[i]);
    pipe.push_back(place_of<PipelineSplit>(pipes, layout));
    shard.push_back(place_of(shards, shard_of(layout)));
    const bool anew = i == 0 || !same_saved(before, layout);
    if (anew || PriceKey(job, before) != PriceKey(job, layout)) groups.push_back({i, i, anew, {}});
    before = layout;
    groups.back().end = i + 1;
    std::vector<InnerPart>& of_group = groups.back().parts;
    auto part = std::find_if(of_group.begin(), of_group.end(),
                             [&](const InnerPart& p) { return p.pipe == pipe.back(); });
    if (part == of_group.end()) {
      part = of_group.insert(part, {pipe.back(), parts++, {}});
    }
    part->choices.push_back(i);
    if (list[i].overlap_experts == Choice::on) {
      overlaps_experts[static_cast<std::size_t>(list[i].recompute)] = true;
    }
  }
}

InnerChoice InnerShape::cheapest(Recompute recompute) const {
  const auto at = overlaps_experts.begin();
  const bool on = recompute == Recompute::none
                      ? std::find(at, overlaps_experts.end(), true) != overlaps_experts.end()
                      : at[static_cast<std::size_t>(recompute)];
  return {.recompute = recompute, .overlap_experts = on ? Choice::on : Choice::framework};
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

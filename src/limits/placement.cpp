#include "limits/placement.hpp"

#include <numeric>

namespace headway::limits {
namespace {

Split& split_of(Layout& layout, std::size_t kind) {
  Split* splits[] = {&layout.data, &layout.tensor_model, &layout.tensor_ff, &layout.pipeline,
                     &layout.expert};
  return *splits[kind];
}

}  // namespace

Placements::Placements(const Setting& setting, const Network& network, std::int64_t gpus,
                       Seconds cap)
    : setting_(setting), domains_(domains_in_use(setting.machine, gpus)), best_time_(cap) {
  const int levels = static_cast<int>(setting.machine.levels.size());
  for (int level = 0; level < levels; ++level) collapsed_.push_back(network.collapsed(level));
}

void Placements::consider(const Candidate& candidate) {
  Layout layout;
  layout.micro_batches = candidate.micro_batches;
  layout.interleave = candidate.interleave;
  layout.zero_bubble = candidate.zero_bubble;
  const Degrees& of = candidate.degrees;
  place(candidate, 0, layout, {of.data, of.tensor_model, of.tensor_ff, of.pipeline, of.expert});
}

// Levels inside `level` are decided; what is left of each degree lies on it and further out.
void Placements::place(const Candidate& candidate, int level, Layout& layout, const Counts& left) {
  for (std::size_t kind = 0; kind < left.size(); ++kind) {
    split_of(layout, kind).at[level] = left[kind];
  }
  const NetworkTimes network = collapsed_[level].times(layout);
  const Seconds time =
      step_time(setting_, candidate.matmul, network, candidate.bubble, candidate.zero_bubble);
  if (!is_below(time, best_time_)) return;
  if (level + 1 < static_cast<int>(collapsed_.size())) {
    split(candidate, level, layout, left, 0, domains_[level]);
    return;
  }
  const Seconds communication = network.tensor + network.data + network.pipeline;
  const bool better =
      time < best_time_ || (found_ && time == best_time_ && communication < best_communication_);
  if (!better) return;
  found_ = true;
  best_time_ = time;
  best_communication_ = communication;
  best_ = layout;
}

// Shares the `domains` of one level among the kinds from `kind` on.
void Placements::split(const Candidate& candidate, int level, Layout& layout, const Counts& left,
                       std::size_t kind, std::int64_t domains) {
  if (kind + 1 == left.size()) {
    if (left[kind] % domains != 0) return;
    Counts outside = left;
    outside[kind] /= domains;
    split_of(layout, kind).at[level] = domains;
    place(candidate, level + 1, layout, outside);
    for (std::size_t k = 0; k < left.size(); ++k) split_of(layout, k).at[level + 1] = 1;
    return;
  }
  const std::int64_t most = std::gcd(left[kind], domains);
  const auto next_divisor = [&](std::int64_t part) {
    if ((most & (most - 1)) == 0) return 2 * part;  // the usual case, and sites are large
    do ++part;
    while (part <= most && most % part != 0);
    return part;
  };
  for (std::int64_t part = 1; part <= most; part = next_divisor(part)) {
    Counts outside = left;
    outside[kind] /= part;
    split_of(layout, kind).at[level] = part;
    split(candidate, level, layout, outside, kind + 1, domains / part);
  }
}

}  // namespace headway::limits

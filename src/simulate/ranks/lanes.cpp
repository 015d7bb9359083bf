#include "simulate/ranks/lanes.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace headway {

LaneSets::LaneSets(std::size_t lanes) : set_(lanes) {
  std::iota(set_.begin(), set_.end(), std::size_t{0});
}

void LaneSets::join(std::size_t a, std::size_t b) {
  const std::size_t from = std::max(set_[a], set_[b]), into = std::min(set_[a], set_[b]);
  if (from == into) return;
  alone_ = false;
  std::replace(set_.begin(), set_.end(), from, into);
}

void LaneSets::join(const LaneSets& other) {
  if (other.alone_) return;
  for (std::size_t lane = 0; lane < set_.size(); ++lane) join(lane, other.set_[lane]);
}

void LaneSets::meet(std::vector<Seconds>& times) const {
  if (alone_) return;
  for (std::size_t l = 0; l < set_.size(); ++l) {
    times[set_[l]] = std::max(times[set_[l]], times[l]);  // the least lane comes first
  }
  for (std::size_t l = 0; l < set_.size(); ++l) times[l] = times[set_[l]];
}

std::vector<bool> LaneSets::any(const std::vector<bool>& marked) const {
  std::vector<bool> out = marked;
  for (std::size_t l = 0; l < set_.size(); ++l) {
    if (marked[l]) out[set_[l]] = true;
  }
  for (std::size_t l = 0; l < set_.size(); ++l) out[l] = out[set_[l]];
  return out;
}

namespace {

// A rank of a stage.
struct Member {
  std::int64_t lane = 0;
  std::int64_t replica = 0;   // along cp and dp, the inner of them first
  std::int64_t in_stage = 0;  // among the ranks of the stage
};

std::vector<Member> members(const Layout& layout) {
  std::vector<Member> out;
  const bool cp_inner = stride(layout, Dimension::cp) < stride(layout, Dimension::dp);
  // Numbered without the pipeline: global ranks jump by pp where its block of ranks ends.
  const std::int64_t block = stride(layout, Dimension::pp);
  for (std::int64_t d = 0; d < layout.dp; ++d) {
    for (std::int64_t c = 0; c < layout.cp; ++c) {
      for (std::int64_t t = 0; t < layout.tp; ++t) {
        const std::int64_t rank = d * stride(layout, Dimension::dp) +
                                  c * stride(layout, Dimension::cp) +
                                  t * stride(layout, Dimension::tp);
        out.push_back({d, cp_inner ? c + layout.cp * d : d + layout.dp * c,
                       rank % block + rank / (block * layout.pp) * block});
      }
    }
  }
  return out;
}

}  // namespace

LaneSets lanes_of(Group group, const Run& run) {
  const Layout& layout = run.layout;
  LaneSets out(static_cast<std::size_t>(layout.dp));
  const std::int64_t replicas = layout.dp * layout.cp;
  const std::int64_t shard = layout.shard == 0 ? replicas : layout.shard;
  const std::int64_t node = replicas_on_node(layout, run.cluster);
  // The call that a rank takes part in.
  const auto call_of = [&](const Member& m) -> std::pair<std::int64_t, std::int64_t> {
    switch (group) {
      case Group::dp:
        return {m.replica / shard, 0};
      case Group::dp_replica:
        return {m.replica % shard, 0};
      case Group::dp_secondary:
        return {m.replica / std::max<std::int64_t>(1, layout.secondary), 0};
      case Group::dp_node:
        return {m.replica / node, 0};
      case Group::dp_nodes:
        return {m.replica % node, 0};
      case Group::ep:
        return {m.in_stage / (layout.etp * layout.ep), m.in_stage % layout.etp};
      case Group::expert_dp:
        return {m.in_stage % (layout.etp * layout.ep), 0};
      case Group::world:
        return {0, 0};
      default:  // within a lane
        return {m.lane, 0};
    }
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> first;
  for (const Member& m : members(layout)) {
    const auto [at, is_new] = first.try_emplace(call_of(m), m.lane);
    if (!is_new) out.join(static_cast<std::size_t>(at->second), static_cast<std::size_t>(m.lane));
  }
  return out;
}

std::vector<std::int64_t> ranks_of(std::int64_t stage, std::int64_t lane, const Layout& layout) {
  std::vector<std::int64_t> out;
  const std::int64_t first =
      stage * stride(layout, Dimension::pp) + lane * stride(layout, Dimension::dp);
  for (std::int64_t c = 0; c < layout.cp; ++c) {
    for (std::int64_t t = 0; t < layout.tp; ++t) {
      out.push_back(first + c * stride(layout, Dimension::cp) + t * stride(layout, Dimension::tp));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace headway

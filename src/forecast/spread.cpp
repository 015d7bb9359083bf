// The order of ranks is the one the cost model assumes (src/cost/collective/collective.cpp): rings
// visit the domains of a level one after the other, so that each is entered and left once.
#include "forecast/spread.hpp"

#include <algorithm>

#include "step/schedule/order.hpp"

namespace headway {
namespace {

// Members of the group in one domain of each level, growing outwards to all of them.
std::array<double, kMostLevels> members_of(const GroupSpan& span, const Cluster& cluster) {
  const std::size_t levels = std::min<std::size_t>(cluster.levels.size(), kMostLevels);
  std::array<double, kMostLevels> out{};
  std::int64_t inside = 1;
  for (std::size_t i = 0; i < levels; ++i) {
    const std::int64_t here = i + 1 == levels ? span.ranks : span.members[i];
    inside = std::clamp(here, inside, std::max<std::int64_t>(span.ranks, 1));
    out[i] = static_cast<double>(inside);
  }
  return out;
}

// The innermost level of which a and b, places in the group, lie in the same domain.
std::size_t level_between(std::int64_t a, std::int64_t b,
                          const std::array<double, kMostLevels>& members, std::size_t levels) {
  for (std::size_t i = 0; i + 1 < levels; ++i) {
    const auto size = static_cast<std::int64_t>(members[i]);
    if (a / size == b / size) return i;
  }
  return levels - 1;
}

}  // namespace

LevelShares level_shares(const Call& call, const GroupSpan& span, const Cluster& cluster) {
  const std::size_t levels = std::min<std::size_t>(cluster.levels.size(), kMostLevels);
  const std::array<double, kMostLevels> members = members_of(span, cluster);
  const double ranks = static_cast<double>(span.ranks);
  LevelShares out{};
  if (row_of(call.group).ends_alone) {
    out[level_between(0, span.ranks - 1, members, levels)] = 1;
    return out;
  }
  // What of a rank's bytes leaves a domain of `inside` members. A ring is n links, of which one
  // leaves each domain; a broadcast is n - 1, to each domain but the first one; of an all-to-all
  // the n - inside peers outside, or with tokens sent once to each domain, as in [COLL-8].
  const auto leaves = [&](double inside) {
    switch (call.op) {
      case CollectiveOp::all_to_all: {
        const double peers = (ranks - inside) / (ranks - 1);
        if (call.choices <= 1) return peers;
        return peers * distinct(ranks / inside, call.choices) / distinct(ranks, call.choices);
      }
      case CollectiveOp::broadcast:
        return (ranks / inside - 1) / (ranks - 1);
      default:
        return inside < ranks ? 1 / inside : 0;
    }
  };
  double below = 1;
  for (std::size_t i = 0; i < levels && below > 0; ++i) {
    const double beyond = members[i] < ranks ? leaves(members[i]) : 0;
    out[i] = below - beyond;
    below = beyond;
  }
  return out;
}

LevelShares pipeline_shares(std::int64_t first, std::int64_t stages, const Layout& layout,
                            const GroupSpan& span, const Cluster& cluster) {
  const std::size_t levels = std::min<std::size_t>(cluster.levels.size(), kMostLevels);
  const std::array<double, kMostLevels> members = members_of(span, cluster);
  LevelShares out{};
  double sends = 0;
  const auto add = [&](std::int64_t from, std::int64_t to, double count) {
    out[level_between(from, to, members, levels)] += count;
    sends += count;
  };
  // Results go to the next chunk of layers, gradients to the one before, unless it is here, too.
  const Pipeline pipeline = pipeline_of(layout, 1);
  for (std::int64_t rank = first; rank < first + stages; ++rank) {
    for (std::int64_t chunk = 0; chunk < pipeline.chunks(); ++chunk) {
      const std::int64_t at = pipeline.stage(rank, chunk);
      for (const std::int64_t other : {at - 1, at + 1}) {
        if (other < 0 || other >= pipeline.stages()) continue;
        const ChunkOfRank to = holder(pipeline, pipeline.copies() == 2 ? chunk : 0, other);
        if (to.rank != rank) add(rank, to.rank, 1);
      }
    }
  }
  for (double& share : out) share = sends > 0 ? share / sends : 0;
  return out;
}

}  // namespace headway

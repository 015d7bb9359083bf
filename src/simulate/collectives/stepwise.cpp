// [SIM-55] The form (steps, rounds, chunks) and its bounds are those of SCCL (Cai et al. 2021),
// which searches with a solver. Here a step is made rank by rank: what it lacks and a neighbour had
// before is matched to the places on the links into it, rare chunks first, so that as many come as
// can; of several matchings one by chance. Ranks are served one after the other, each seeing what
// those before it get.
#include "simulate/collectives/stepwise.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "base/random/random.hpp"

namespace headway::network {
namespace {

constexpr int kSeeds = 32;

// A link as so many chunks a round.
struct Lane {
  NodeId from, to;
  std::uint32_t width;
};

std::vector<Lane> lanes_of(const Topology& on) {
  double narrowest = std::numeric_limits<double>::infinity();
  for (const Link& link : on.links) narrowest = std::min(narrowest, link.capacity.value());
  std::vector<Lane> out;
  for (const Link& link : on.links) {
    // The last digits of a quotient are no chunk.
    const double width = std::floor(link.capacity.value() / narrowest + 1e-9);
    out.push_back({link.from, link.to, static_cast<std::uint32_t>(width)});
  }
  return out;
}

// Each way to part the rounds over the steps, at least one each.
template <class See>
bool any_parting(std::uint32_t rounds, std::uint32_t steps, std::vector<std::uint32_t>& parts,
                 const See& see) {
  if (steps == 1) {
    parts.push_back(rounds);
    const bool found = see(parts);
    parts.pop_back();
    return found;
  }
  for (std::uint32_t first = 1; first + steps - 1 <= rounds; ++first) {
    parts.push_back(first);
    const bool found = any_parting(rounds - first, steps - 1, parts, see);
    parts.pop_back();
    if (found) return true;
  }
  return false;
}

// The flow into one rank over the steps, along augmenting ways.
class FlowInto {
 public:
  FlowInto(const std::vector<Lane>& lanes, std::uint32_t ranks, std::uint32_t chunks,
           const std::vector<std::uint32_t>& rounds, NodeId target)
      : source_(ranks * (static_cast<std::uint32_t>(rounds.size()) + 1)), edges_(source_ + 1) {
    const auto steps = static_cast<std::uint32_t>(rounds.size());
    const auto at = [&](NodeId rank, std::uint32_t step) { return step * ranks + rank; };
    sink_ = at(target, steps);
    for (NodeId rank = 0; rank < ranks; ++rank) {
      if (rank != target) add(source_, at(rank, 0), chunks);
      for (std::uint32_t s = 0; s < steps; ++s) {
        add(at(rank, s), at(rank, s + 1), ranks * chunks);
      }
    }
    for (std::uint32_t s = 0; s < steps; ++s) {
      for (const Lane& lane : lanes)
        add(at(lane.from, s), at(lane.to, s + 1), lane.width * rounds[s]);
    }
  }

  std::uint32_t most() {
    std::uint32_t out = 0;
    while (const std::uint32_t more = augment()) out += more;
    return out;
  }

 private:
  struct Edge {
    std::uint32_t to, back, left;
  };

  void add(std::uint32_t from, std::uint32_t to, std::uint32_t capacity) {
    edges_[from].push_back({to, static_cast<std::uint32_t>(edges_[to].size()), capacity});
    edges_[to].push_back({from, static_cast<std::uint32_t>(edges_[from].size() - 1), 0});
  }

  std::uint32_t augment() {
    struct Came {
      std::uint32_t node = 0, edge = 0;
      bool seen = false;
    };
    std::vector<Came> came(edges_.size());
    std::queue<std::uint32_t> open;
    open.push(source_);
    came[source_].seen = true;
    while (!open.empty() && !came[sink_].seen) {
      const std::uint32_t node = open.front();
      open.pop();
      for (std::uint32_t e = 0; e < edges_[node].size(); ++e) {
        const Edge& edge = edges_[node][e];
        if (edge.left == 0 || came[edge.to].seen) continue;
        came[edge.to] = {node, e, true};
        open.push(edge.to);
      }
    }
    if (!came[sink_].seen) return 0;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (std::uint32_t n = sink_; n != source_; n = came[n].node) {
      least = std::min(least, edges_[came[n].node][came[n].edge].left);
    }
    for (std::uint32_t n = sink_; n != source_; n = came[n].node) {
      Edge& edge = edges_[came[n].node][came[n].edge];
      edge.left -= least;
      edges_[n][edge.back].left += least;
    }
    return least;
  }

  std::uint32_t source_, sink_ = 0;
  std::vector<std::vector<Edge>> edges_;
};

// A gather step by step.
class Stepping {
 public:
  Stepping(const std::vector<Lane>& lanes, std::uint32_t ranks, std::uint32_t chunks,
           std::uint64_t seed)
      : into_(ranks), chance_(xor_shift_of(seed)) {
    for (const Lane& lane : lanes) into_[lane.to].push_back(lane);
    has_.assign(ranks, std::vector<bool>(std::size_t{ranks} * chunks, false));
    for (NodeId rank = 0; rank < ranks; ++rank) {
      std::fill_n(has_[rank].begin() + static_cast<std::ptrdiff_t>(rank) * chunks, chunks, true);
    }
    holders_.assign(std::size_t{ranks} * chunks, 1);
    sent_.assign(ranks, 0);
  }

  void take(std::uint32_t rounds) {
    std::vector<std::vector<std::uint32_t>> got(into_.size());
    for (NodeId rank = 0; rank < into_.size(); ++rank) got[rank] = matched(rank, rounds);
    for (NodeId rank = 0; rank < into_.size(); ++rank) {
      for (const std::uint32_t chunk : got[rank]) has_[rank][chunk] = true;
    }
  }
  bool is_done() const {
    return std::all_of(has_.begin(), has_.end(), [](const std::vector<bool>& held) {
      return std::all_of(held.begin(), held.end(), [](bool each) { return each; });
    });
  }
  double most_sent() const { return *std::max_element(sent_.begin(), sent_.end()); }
  std::uint64_t messages() const { return messages_; }

 private:
  // Chunks by lane: as many as have room.
  struct Matching {
    const std::vector<Lane>& lanes;
    std::uint32_t rounds;
    std::vector<std::vector<std::uint32_t>> by_lane;
  };

  std::vector<std::uint32_t> matched(NodeId rank, std::uint32_t rounds) {
    struct Wanted {
      std::uint32_t holders;
      std::uint64_t chance;
      std::uint32_t chunk;
      auto operator<=>(const Wanted&) const = default;
    };
    std::vector<Wanted> wanted;
    for (std::uint32_t chunk = 0; chunk < holders_.size(); ++chunk) {
      if (!has_[rank][chunk]) wanted.push_back({holders_[chunk], chance_.next(), chunk});
    }
    std::sort(wanted.begin(), wanted.end());
    Matching matching{into_[rank], rounds, {}};
    matching.by_lane.resize(into_[rank].size());
    for (const Wanted& each : wanted) {
      std::vector<bool> seen(into_[rank].size(), false);
      place(each.chunk, matching, seen);
    }
    std::vector<std::uint32_t> out;
    for (std::size_t l = 0; l < matching.by_lane.size(); ++l) {
      sent_[into_[rank][l].from] += static_cast<double>(matching.by_lane[l].size());
      messages_ += matching.by_lane[l].size();
      for (const std::uint32_t chunk : matching.by_lane[l]) {
        ++holders_[chunk];
        out.push_back(chunk);
      }
    }
    return out;
  }

  // Whether the chunk finds a place, others moved where they can go elsewhere.
  bool place(std::uint32_t chunk, Matching& matching, std::vector<bool>& seen) {
    const std::size_t lanes = matching.lanes.size(), from = chance_.next() % lanes;
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::size_t l = (from + i) % lanes;
      const Lane& lane = matching.lanes[l];
      if (seen[l] || !has_[lane.from][chunk]) continue;
      seen[l] = true;
      auto& placed = matching.by_lane[l];
      if (placed.size() < std::size_t{lane.width} * matching.rounds) {
        placed.push_back(chunk);
        return true;
      }
      for (std::size_t other = 0; other < placed.size(); ++other) {
        if (!place(placed[other], matching, seen)) continue;
        matching.by_lane[l][other] = chunk;
        return true;
      }
    }
    return false;
  }

  std::vector<std::vector<Lane>> into_;
  XorShift chance_;
  std::vector<std::vector<bool>> has_;  // of each rank, by chunk
  std::vector<std::uint32_t> holders_;  // of each chunk
  std::vector<double> sent_;
  std::uint64_t messages_ = 0;
};

bool fits(const std::vector<Lane>& lanes, const Topology& on, std::uint32_t chunks,
          const std::vector<std::uint32_t>& rounds) {
  for (NodeId rank = 0; rank < on.ranks; ++rank) {
    if (FlowInto(lanes, on.ranks, chunks, rounds, rank).most() < (on.ranks - 1) * chunks) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_impossible(const StepwiseForm& form, const Topology& on) {
  const std::vector<Lane> lanes = lanes_of(on);
  std::vector<std::uint32_t> parts;
  return form.rounds < form.steps || !any_parting(form.rounds, form.steps, parts,
                                                  [&](const std::vector<std::uint32_t>& rounds) {
                                                    return fits(lanes, on, form.chunks, rounds);
                                                  });
}

std::optional<StepwiseGather> gather_stepwise(const StepwiseForm& form, const Topology& on) {
  if (form.rounds < form.steps) return std::nullopt;
  const std::vector<Lane> lanes = lanes_of(on);
  std::optional<StepwiseGather> out;
  std::vector<std::uint32_t> parts;
  any_parting(form.rounds, form.steps, parts, [&](const std::vector<std::uint32_t>& rounds) {
    if (!fits(lanes, on, form.chunks, rounds)) return false;
    for (int seed = 0; seed < kSeeds; ++seed) {
      Stepping stepping(lanes, on.ranks, form.chunks, static_cast<std::uint64_t>(seed));
      for (const std::uint32_t each : rounds) stepping.take(each);
      if (!stepping.is_done()) continue;
      out = StepwiseGather{rounds, stepping.most_sent(), stepping.messages()};
      return true;
    }
    return false;
  });
  return out;
}

std::uint32_t diameter_of(const Topology& on) {
  std::uint32_t out = 0;
  for (NodeId from = 0; from < on.ranks; ++from) {
    std::vector<std::uint32_t> hops(on.ranks, on.ranks);
    hops[from] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Link& link : on.links) {
        if (hops[link.from] + 1 >= hops[link.to]) continue;
        hops[link.to] = hops[link.from] + 1;
        changed = true;
      }
    }
    out = std::max(out, *std::max_element(hops.begin(), hops.end()));
  }
  return out;
}

}  // namespace headway::network

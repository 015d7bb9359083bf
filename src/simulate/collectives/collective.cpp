#include "simulate/collectives/collective.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "simulate/collectives/chunks.hpp"
#include "simulate/collectives/placement.hpp"
#include "simulate/collectives/stepwise.hpp"
#include "simulate/collectives/synthesis.hpp"

namespace headway::network {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"all_reduce", "all_gather", "reduce_scatter",
                                                    "all_to_all"};

// What an algorithm comes to, or why it cannot.
struct Outcome {
  SimulatedCollective found;
  std::string problem;
};
using Simulate = Outcome (*)(const Call&, const Topology&, const CollectiveOptions&);

template <Planned (*plan)(const Call&, const Topology&)>
Outcome in_steps(const Call& call, const Topology& on, const CollectiveOptions& options) {
  if (options.chunks > 0) return {{}, "has no chunks"};
  Planned planned = plan(call, on);
  if (!planned.problem.empty()) return {{}, std::move(planned.problem)};
  const PlacedPattern placed = place(planned.pattern, on, options.every_rank);
  if (placed.too_many) {
    return {{},
            "sends more than " + std::to_string(kMostAtOnce) +
                " messages at once that share links unevenly"};
  }
  return {{.time = placed.time,
           .steps = planned.pattern.steps(),
           .sent_per_rank = most_sent(planned.pattern, on.ranks),
           .by_classes = placed.by_classes,
           .messages = placed.messages},
          {}};
}

// [SIM-16] The data go in K chunks, in waves: in each a rank passes one chunk along each of its
// edges. The first chunk takes L waves, twice the depth of a tree: (L + K) waves of t(bytes/K).
// The best K is sqrt(L (t(bytes) - t(0)) / t(0)) where t grows evenly with the chunk; it is not
// rounded, so that time is that of the closed form (Sanders, Speck, Traff 2009).
Outcome double_binary_tree(const Call& call, const Topology& on, const CollectiveOptions& options) {
  if (call.op != Collective::all_reduce) return {{}, "does all-reduce"};
  std::uint32_t depth = 0;
  std::uint64_t messages = 0;
  const auto wave = [&](double bytes) {
    const Planned planned = tree_wave(bytes, on, depth);
    const PlacedPattern placed = place(planned.pattern, on, true);
    messages += placed.messages;
    return placed.time.value();
  };
  const double bytes = call.bytes.value();
  double chunks = options.chunks;
  if (chunks == 0) {
    const double empty = wave(0), whole = wave(bytes);
    constexpr double kMostChunks = 1e6;
    chunks =
        empty > 0 ? std::min(kMostChunks, std::sqrt(depth * (whole - empty) / empty)) : kMostChunks;
  }
  const double time = (depth + chunks) * wave(bytes / chunks);
  const Planned planned = tree_wave(bytes, on, depth);
  return {{.time = Seconds(time),
           .steps = static_cast<std::uint64_t>(std::ceil(depth + chunks)),
           .sent_per_rank = most_sent(planned.pattern, on.ranks),
           .chunks = chunks,
           .messages = messages},
          {}};
}

template <ChunkOrder order>
Outcome chunk_by_chunk(const Call& call, const Topology& on, const CollectiveOptions& options) {
  InChunks made = in_chunks(call, on, order, options.chunks, options.every_rank);
  if (!made.problem.empty()) return {{}, std::move(made.problem)};
  return {{.time = made.time,
           .steps = made.steps,
           .sent_per_rank = made.sent_per_rank,
           .chunks = static_cast<double>(made.chunks),
           .chunks_along_first = static_cast<double>(made.first),
           .messages = made.messages},
          {}};
}

// Phases one after the other, or those of chunks beside each other where that takes less.
Outcome hierarchical_or_in_chunks(const Call& call, const Topology& on,
                                  const CollectiveOptions& options) {
  Outcome chunked = chunk_by_chunk<ChunkOrder::fixed>(call, on, options);
  if (options.chunks > 0) return chunked;
  Outcome whole = in_steps<hierarchical>(call, on, options);
  if (!chunked.problem.empty()) return whole;
  return !whole.problem.empty() || chunked.found.time < whole.found.time ? chunked : whole;
}

bool joins_ranks(const Topology& on) {
  return on.name != "full" && std::all_of(on.links.begin(), on.links.end(), [&](const Link& link) {
           return link.from < on.ranks && link.to < on.ranks;
         });
}

// [SIM-55] Steps that all ranks take together: latencies and rounds of a chunk on the narrowest
// link. Of forms with few steps and chunks the fastest that is found; a reduce-scatter takes them
// backwards over the links turned round, an all-reduce both.
Outcome stepwise(const Call& call, const Topology& on, const CollectiveOptions& options) {
  constexpr std::uint32_t kMostRanks = 16, kMostApart = 2;
  constexpr std::uint32_t kMostChunks = 8, kMoreSteps = 2, kMoreRounds = 2;
  if (call.op == Collective::all_to_all) return {{}, "does no all-to-all"};
  if (!joins_ranks(on)) return {{}, "needs links from rank to rank"};
  if (on.ranks > kMostRanks) {
    return {{}, "is made for at most " + std::to_string(kMostRanks) + " ranks"};
  }
  // The ways to part rounds over steps are too many of longer ones.
  if (diameter_of(on) > kMostApart) {
    return {{}, "is made for ranks at most " + std::to_string(kMostApart) + " links apart"};
  }
  if (options.chunks > kMostChunks) {
    return {{}, "takes at most " + std::to_string(kMostChunks) + " chunks"};
  }
  double latency = 0, narrowest = kUnbounded.value();
  for (const Link& link : on.links) {
    latency = std::max(latency, link.latency.value());
    narrowest = std::min(narrowest, link.capacity.value());
  }
  const double block = call.bytes.value() / on.ranks;
  Topology turned{.ranks = on.ranks, .links = on.links};
  for (Link& link : turned.links) std::swap(link.from, link.to);
  Outcome out;
  const auto add = [&](const Topology& over) {
    const Call gather{Collective::all_gather, call.bytes};
    const double bound = lower_bound(gather, over, false).value();
    const std::uint32_t least = diameter_of(over);
    std::optional<SimulatedCollective> best;
    for (std::uint32_t chunks = 1; chunks <= kMostChunks; ++chunks) {
      if (options.chunks > 0 && chunks != options.chunks) continue;
      const double round = block / chunks / narrowest;
      const auto fewest = static_cast<std::uint32_t>(std::ceil(bound / round - 1e-9));
      for (std::uint32_t steps = least; steps <= least + kMoreSteps; ++steps) {
        for (std::uint32_t more = 0; more <= kMoreRounds; ++more) {
          const std::uint32_t rounds = std::max(fewest, steps) + more;
          const double time = steps * latency + rounds * round;
          if (best && best->time <= Seconds(time)) break;
          const auto made = gather_stepwise({steps, rounds, chunks}, over);
          if (!made) continue;
          best = SimulatedCollective{.time = Seconds(time),
                                     .steps = steps,
                                     .sent_per_rank = Bytes(made->most_sent * block / chunks),
                                     .chunks = static_cast<double>(chunks),
                                     .messages = made->messages};
          break;
        }
      }
    }
    if (!best) return false;
    out.found.time += best->time;
    out.found.steps += best->steps;
    out.found.sent_per_rank += best->sent_per_rank;
    out.found.chunks = best->chunks;
    out.found.messages += best->messages;
    return true;
  };
  const bool found = (call.op == Collective::all_gather || add(turned)) &&
                     (call.op == Collective::reduce_scatter || add(on));
  if (!found) out.problem = "found none in few steps";
  return out;
}

// An all-gather made for the links; a reduce-scatter is one run backwards over the links turned
// round, an all-reduce both.
Outcome synthesised(const Call& call, const Topology& on, const CollectiveOptions& options) {
  constexpr std::uint32_t kMostRanks = 128, kMostChunks = 64;
  if (call.op == Collective::all_to_all) return {{}, "does no all-to-all"};
  if (!joins_ranks(on)) return {{}, "needs links from rank to rank"};
  if (on.ranks > kMostRanks)
    return {{}, "is made for at most " + std::to_string(kMostRanks) + " ranks"};
  if (options.chunks > kMostChunks) {
    return {{}, "takes at most " + std::to_string(kMostChunks) + " chunks"};
  }
  const std::vector<std::uint32_t> chunks =
      options.chunks > 0 ? std::vector{options.chunks} : std::vector<std::uint32_t>{1, 2, 3, 4};
  Topology turned{.ranks = on.ranks, .links = on.links};
  for (Link& link : turned.links) std::swap(link.from, link.to);
  Outcome out;
  const auto add = [&](const Topology& over) {
    constexpr std::uint64_t kSeeds = 2;
    std::optional<Synthesised> best;
    for (const std::uint32_t each : chunks) {
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const Synthesised made = synthesise_all_gather(call.bytes.value(), each, over, seed);
        if (best && best->time <= made.time) continue;
        best = made;
        out.found.chunks = each;
      }
    }
    out.found.time += Seconds(best->time);
    out.found.steps += best->steps;
    out.found.sent_per_rank += Bytes(best->most_sent);
    out.found.messages += best->messages;
  };
  if (call.op != Collective::all_gather) add(turned);
  if (call.op != Collective::reduce_scatter) add(on);
  return out;
}

struct Algorithm {
  std::string_view name;
  std::array<std::string_view, 3> also;
  Simulate simulate;
};
// Of two that take the same time, but for rounding, the first is the best.
constexpr double kShorter = 1 - 1e-9;
constexpr Algorithm kAlgorithms[] = {
    {"ring", {}, in_steps<ring>},
    {"switch", {"nvls", "sharp", "in-network"}, in_steps<switch_reduction>},
    {"rabenseifner", {"halving-doubling"}, in_steps<rabenseifner>},
    {"recursive-doubling", {"doubling"}, in_steps<recursive_doubling>},
    {"recursive-halving", {"halving"}, in_steps<recursive_halving>},
    {"bruck", {}, in_steps<bruck>},
    {"pat", {}, in_steps<pat>},
    {"direct", {}, in_steps<direct>},
    {"one-shot", {}, in_steps<one_shot>},
    {"two-shot", {}, in_steps<two_shot>},
    {"double-binary-tree", {"tree"}, double_binary_tree},
    {"rings", {}, in_steps<rings>},
    {"hierarchical", {"blueconnect"}, hierarchical_or_in_chunks},
    {"dimensions", {}, in_steps<dimension_by_dimension>},
    {"rotations", {"torus"}, in_steps<rotations>},
    {"themis", {"balanced"}, chunk_by_chunk<ChunkOrder::balanced>},
    {"synthesised", {"synthesis", "tacos"}, synthesised},
    {"stepwise", {"sccl"}, stepwise},
    {"pairwise", {}, in_steps<pairwise>},
    {"two-level", {}, in_steps<two_level>},
};

double into_slowest(const Topology& on) {
  std::vector<double> into(on.ranks);
  for (const Link& link : on.links) {
    if (link.to < on.ranks) into[link.to] += link.capacity.value();
  }
  return *std::min_element(into.begin(), into.end());
}

// Across the middle of the longest side: half of the ranks send to the other half.
double across(const Call& call, const Topology& on) {
  if (on.sizes.empty() || on.lines_are_switched) return 0;
  const auto longest = std::max_element(on.sizes.begin(), on.sizes.end());
  std::uint32_t stride = 1;
  for (auto side = on.sizes.begin(); side != longest; ++side) stride *= *side;
  const std::uint32_t size = *longest, half = size / 2;
  const auto is_low = [&](NodeId rank) { return rank / stride % size < half; };
  double capacity = 0;
  for (const Link& link : on.links) {
    if (is_low(link.from) && !is_low(link.to)) capacity += link.capacity.value();
  }
  const double low = static_cast<double>(on.ranks) / size * half, high = on.ranks - low;
  return capacity > 0 ? call.bytes.value() / on.ranks * low * high / capacity : 0;
}

std::string readable(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

}  // namespace

std::span<const std::string_view> collective_names() {
  return kNames;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> out;
  for (const Algorithm& each : kAlgorithms) out.emplace_back(each.name);
  return out;
}

std::optional<std::string> algorithm_named(std::string_view name) {
  const std::string asked = readable(lower(name));
  for (const Algorithm& each : kAlgorithms) {
    const bool same =
        each.name == asked ||
        (!asked.empty() && std::find(each.also.begin(), each.also.end(), asked) != each.also.end());
    if (same) return std::string(each.name);
  }
  return std::nullopt;
}

Seconds lower_bound(const Call& call, const Topology& on, bool reduced_by_switch) {
  const double others = (on.ranks - 1.0) / on.ranks * call.bytes.value() / into_slowest(on);
  if (call.op == Collective::all_reduce) {
    return Seconds(reduced_by_switch ? call.bytes.value() / into_slowest(on) : 2 * others);
  }
  return Seconds(call.op == Collective::all_to_all ? std::max(others, across(call, on)) : others);
}

Result<SimulatedCollective> simulate_collective(const Call& call, const Topology& on,
                                                const CollectiveOptions& options) {
  std::optional<SimulatedCollective> best;
  std::string problem;
  for (const Algorithm& each : kAlgorithms) {
    if (!options.algorithm.empty() && options.algorithm != each.name) continue;
    Outcome outcome = each.simulate(call, on, options);
    problem = std::move(outcome.problem);
    if (!problem.empty()) continue;
    if (best && best->time * kShorter <= outcome.found.time) continue;
    best = outcome.found;
    best->algorithm = each.name;
    best->bound = lower_bound(call, on, each.name == "switch");
  }
  if (best) return *best;
  if (options.algorithm.empty()) problem = "no algorithm does that";
  return Problem{FieldName("algorithm"), problem};
}

}  // namespace headway::network

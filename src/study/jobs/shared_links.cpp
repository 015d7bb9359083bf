#include "study/jobs/shared_links.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/network/traffic.hpp"

namespace headway {
namespace {

// Steps of each job that are looked at behind its first, and ends of flows at most.
constexpr int kSteps = 8;
constexpr int kMostEnds = 20'000;
// The share of a step by which the next job begins later: no two begin together.
constexpr double kGolden = 0.6180339887498949;

network::Link link_of(BytesPerSecond capacity) {
  network::Link out;
  out.capacity = capacity;
  return out;
}

// One job going through its steps.
struct Walker {
  Seconds begun;      // its first step
  Seconds first;      // the end of it
  Seconds last;       // of the last step so far
  int steps = 0;      // that have ended
  int under_way = 0;  // flows of the part that it is in
  bool exposed = false;
};

}  // namespace

std::vector<double> slowdowns_on_links(std::span<const JobOnLinks> jobs,
                                       std::span<const BytesPerSecond> links,
                                       BytesPerSecond stream) {
  // Shared links, and behind them one of each job, on which a second of computation takes one.
  std::vector<network::Link> all;
  for (const BytesPerSecond capacity : links) all.push_back(link_of(capacity));
  std::vector<std::uint32_t> own;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    own.push_back(static_cast<std::uint32_t>(all.size()));
    all.push_back(link_of(BytesPerSecond(1)));
  }
  network::Traffic traffic(all);
  std::vector<Walker> walkers(jobs.size());
  const auto compute = [&](std::size_t i, Seconds at) {
    if (!(jobs[i].step.compute > Seconds())) return;
    ++walkers[i].under_way;
    traffic.add({.demand = {std::span(&own[i], 1)},
                 .bytes = Bytes(jobs[i].step.compute.value()),
                 .start = at,
                 .delay = {},
                 .tag = i});
  };
  const auto send = [&](std::size_t i, Seconds alone, Seconds at) {
    if (!(alone > Seconds())) return;
    const double streams = jobs[i].streams;
    ++walkers[i].under_way;
    traffic.add({.demand = {jobs[i].links, streams, streams * stream},
                 .bytes = alone * (streams * stream),
                 .start = at,
                 .delay = {},
                 .tag = i});
  };
  // The next part of a step that has any.
  const auto go_on = [&](std::size_t i, Seconds at) {
    Walker& walker = walkers[i];
    while (walker.under_way == 0) {
      if (!walker.exposed) {
        walker.exposed = true;
        send(i, jobs[i].step.exposed, at);
        if (walker.under_way > 0) return;
      }
      walker.exposed = false;
      if (at > walker.begun) {
        walker.last = at;
        if (walker.steps++ == 0) walker.first = at;
      }
      compute(i, at);
      send(i, jobs[i].step.hidden, at);
      if (walker.under_way == 0 && !(jobs[i].step.exposed > Seconds())) return;  // takes no time
    }
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Walker& walker = walkers[i];
    const double share = std::fmod(static_cast<double>(i) * kGolden, 1.0);
    walker.begun = share * jobs[i].step.alone();
    compute(i, walker.begun);
    send(i, jobs[i].step.hidden, walker.begun);
    go_on(i, walker.begun);
  }
  const auto enough = [&] {
    return std::all_of(walkers.begin(), walkers.end(),
                       [](const Walker& walker) { return walker.steps > kSteps; });
  };
  for (int ends = 0; ends < kMostEnds && !enough();) {
    const std::vector<std::uint64_t> ended = traffic.advance();
    if (ended.empty()) break;
    for (const std::uint64_t i : ended) --walkers[i].under_way;
    for (const std::uint64_t i : ended) {
      if (walkers[i].under_way == 0) go_on(i, traffic.now());
    }
    ends += static_cast<int>(ended.size());
  }
  std::vector<double> out;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Walker& walker = walkers[i];
    const Seconds alone = jobs[i].step.alone();
    const bool known = walker.steps > 1 && alone > Seconds();
    const double taken = known ? (walker.last - walker.first) / alone / (walker.steps - 1)
                         : walker.steps == 1 ? (walker.first - walker.begun) / alone
                                             : 1;
    out.push_back(std::max(1.0, taken));
  }
  return out;
}

// A ring of nodes in their order crosses the link of each switch once, in and out; where all pairs
// exchange, k of n nodes below a switch send k (n - k)/(n - 1) of their streams upwards.
JobOnLinks LeafSwitches::use(const StepOnLinks& step, std::span<const std::size_t> servers) const {
  JobOnLinks out{step, {}, 1};
  if (nodes == 0 || servers.empty()) return out;
  std::vector<double> counts;
  for (const std::size_t server : servers) {
    const auto leaf = static_cast<std::uint32_t>(server / nodes);
    if (out.links.empty() || out.links.back() != leaf) {
      out.links.push_back(leaf);
      counts.push_back(0);
    }
    ++counts.back();
  }
  if (out.links.size() < 2) {
    out.links.clear();
    return out;
  }
  const auto n = static_cast<double>(servers.size());
  double most = 1;
  for (const double k : counts) most = std::max(most, k * (n - k) / (n - 1));
  out.streams = 1 + step.exchanged * (most - 1);
  return out;
}

}  // namespace headway

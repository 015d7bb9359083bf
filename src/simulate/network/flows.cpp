#include "simulate/network/flows.hpp"

#include <algorithm>

#include "simulate/network/traffic.hpp"

namespace headway::network {

SimulatedNetwork simulate_network(const NetworkQuestion& question) {
  const std::size_t count = question.flows.size();
  SimulatedNetwork out{question, std::vector<SimulatedFlow>(count),
                       std::vector<Bytes>(question.links.size()), Seconds(0)};
  std::vector<std::size_t> waits_for(count);
  std::vector<std::vector<std::size_t>> followers(count);
  for (std::size_t i = 0; i < count; ++i) {
    waits_for[i] = question.flows[i].after.size();
    for (const std::size_t first : question.flows[i].after) followers[first].push_back(i);
  }

  Traffic traffic(question.links);
  std::vector<RateChange> changes;
  traffic.record(&changes);
  const auto start = [&](std::size_t i) {
    const NamedFlow& flow = question.flows[i];
    out.flows[i].start = std::max(flow.start, traffic.now());
    traffic.add({.demand = {flow.route, flow.weight, flow.bound},
                 .bytes = flow.bytes,
                 .start = out.flows[i].start,
                 .delay = Seconds(0),
                 .tag = i});
    for (const LinkId link : flow.route) out.carried[link] += flow.bytes;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (waits_for[i] == 0) start(i);
  }
  for (;;) {
    const std::vector<std::uint64_t>& ended = traffic.advance();
    if (ended.empty()) break;
    for (const std::uint64_t i : ended) out.flows[i].end = out.end = traffic.now();
    for (const std::uint64_t i : ended) {
      for (const std::size_t next : followers[i]) {
        if (--waits_for[next] == 0) start(next);
      }
    }
  }
  for (const RateChange& change : changes) {
    std::vector<RateFrom>& rates = out.flows[change.tag].rates;
    if (!rates.empty() && rates.back().at == change.at) rates.pop_back();
    rates.push_back({change.at, change.rate});
  }
  return out;
}

}  // namespace headway::network

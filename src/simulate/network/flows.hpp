// Named links and flows, and when each flow ends: `simulate network`.
#pragma once

#include <string>
#include <vector>

#include "simulate/network/network.hpp"

namespace headway::network {

struct NamedFlow {
  std::string name;
  std::vector<LinkId> route;
  Bytes bytes;
  Seconds start;  // not before that, nor before those that it comes after have ended
  double weight = 1;
  BytesPerSecond bound = kUnbounded;
  std::vector<std::size_t> after;
};

struct NetworkQuestion {
  std::vector<std::string> link_names;
  std::vector<Link> links;
  std::vector<NamedFlow> flows;  // none of which waits for itself
};

struct RateFrom {
  Seconds at;
  BytesPerSecond rate;
};

struct SimulatedFlow {
  Seconds start, end;
  std::vector<RateFrom> rates;  // each until the next, the last until the end
};

struct SimulatedNetwork {
  NetworkQuestion of;
  std::vector<SimulatedFlow> flows;
  std::vector<Bytes> carried;  // by each link
  Seconds end;
};

SimulatedNetwork simulate_network(const NetworkQuestion& question);

}  // namespace headway::network

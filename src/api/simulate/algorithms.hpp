// Options about how calls go over a network. Internal to src/api/simulate.
#pragma once

#include "api/options.hpp"
#include "simulate/collectives/question.hpp"

namespace headway {

inline Option algorithm_option(std::vector<std::string>& target) {
  return {.name = "algorithm",
          .value = "GROUP.OP=NAME",
          .help =
              "repeatable; calls placed by this algorithm instead of priced, as "
              "tp.all_reduce=ring; best: the fastest",
          .target = &target};
}

/// Of the links of a topology, and of calls over it.
inline std::vector<Option> link_options(network::CollectiveText& on) {
  return {{.name = "bandwidth",
           .value = "RATE,...",
           .help = "of a link one way, of each level or dimension; default: 50 GB/s",
           .target = &on.bandwidth},
          {.name = "latency",
           .value = "TIME,...",
           .help = "of a link, of a message through a switch; default: 2 us",
           .target = &on.latency},
          {.name = "chunks",
           .value = "K",
           .help = "of algorithms in chunks; default: the best",
           .target = &on.chunks},
          {.name = "seed", .value = "N", .help = "of hashed uplinks", .target = &on.seed}};
}

}  // namespace headway

// The option that names algorithms of calls. Internal to src/api/simulate.
#pragma once

#include "api/command.hpp"

namespace headway {

inline Option algorithm_option(std::vector<std::string>& target) {
  return {.name = "algorithm",
          .value = "GROUP.OP=NAME",
          .help =
              "repeatable; calls placed by this algorithm instead of priced, as "
              "tp.all_reduce=ring; best: the fastest",
          .target = &target};
}

}  // namespace headway

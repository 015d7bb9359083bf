// What a program asks for and what a backend of the host (gloo, MPI) does are recorded apart: the
// dispatcher's operation ("c10d::_reduce_scatter_base_") on the program's thread, the backend's
// ("gloo:all_reduce") perhaps on another and after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/recording/operation.hpp"

namespace headway {

/// One of either. Of what was done the tensors are one list: `input`.
struct HostCall {
  Operation op = Operation::other;
  double input = -1, output = -1;  // of one rank, in bytes or elements; negative: not said
  std::int64_t order = 0;          // what was recorded later has more
};

/// For each of `done` the index in `asked` of what it was done for: the first that is not taken
/// yet, of the same operation (gloo does a reduce-scatter as an all-reduce of its whole input) and
/// size. Nothing where that is not recorded.
std::vector<std::optional<std::size_t>> asked_for(const std::vector<HostCall>& asked,
                                                  const std::vector<HostCall>& done);

}  // namespace headway

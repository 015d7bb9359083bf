// What carries the calls of a list: MPI here, NCCL where there is a GPU.
#pragma once

#include <cstdint>

#include "simulate/live/list.hpp"

namespace headway::replay {

class Transport {
 public:
  using Handle = std::int64_t;
  virtual ~Transport() = default;
  /// Begins a call of this rank, as all of its group do in the same order on its stream.
  virtual Handle begin(const LiveItem& call) = 0;
  /// Whether it is done; then the handle is no more.
  virtual bool done(Handle handle) = 0;
  /// The same at once, until it is done.
  virtual void call(const LiveItem& call) = 0;
  /// All ranks of the group are ready; of all ranks. Not recorded.
  virtual void meet(std::uint32_t group) = 0;
  virtual void meet() = 0;
};

}  // namespace headway::replay

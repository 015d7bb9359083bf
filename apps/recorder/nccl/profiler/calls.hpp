// The calls that NCCL tells of, from their start to where all their parts on the device have
// stopped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../abi.hpp"

namespace headway::recorder::nccl::profiler {

/// A communicator as init and its events tell of it.
struct Context {
  std::uint32_t number = 0;  // 0: not known yet
  int size = 0, rank = -1;   // size 0: not known
  std::uint32_t local = 0;
};

/// What every version's event says.
struct Told {
  std::uint8_t op;
  bool collective = false;
  Element element;
  std::size_t count = 0;
  int peer = -1;  // or root
  std::uint64_t sequence = 0;
  int channels = 0;  // that will tell of themselves; 0: none
};

/// Handles are numbers, so that what NCCL says of a call that is over does no harm.
void* start_call(const Context& context, const Told& told);
void stop_call(void* handle);
void* start_channel(void* call, unsigned channel, std::uint64_t device_ns);
void stop_channel(void* handle, std::uint64_t device_ns);

/// Puts what is left of a communicator into the file (null: of all): of a call of which some
/// channel never spoke, what is known.
void put_left(const Context* context);

}  // namespace headway::recorder::nccl::profiler

// Collectives over two dimensions whose chunks follow one another.
#pragma once

#include <string>

#include "simulate/collectives/pattern.hpp"

namespace headway::network {

struct InChunks {
  Seconds time = {};
  std::uint32_t chunks = 0;
  std::uint32_t first = 0;  // of them begin along the first dimension
  std::uint64_t steps = 0;  // of the dimension that takes more
  Bytes sent_per_rank = {};
  std::uint64_t messages = 0;  // placed one by one
  std::string problem = {};    // empty: none
};

/// All chunks begin along the first dimension (within domains); or, balanced, as many along each as
/// keeps both busy. `chunks` 0: as is best.
enum class ChunkOrder : std::uint8_t { fixed, balanced };
InChunks in_chunks(const Call& call, const Topology& on, ChunkOrder order, std::uint32_t chunks,
                   bool every_rank);

}  // namespace headway::network

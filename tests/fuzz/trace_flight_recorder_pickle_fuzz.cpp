// Any bytes become a recording that is sound.
#include "trace_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return headway::check_reader(headway::read_flight_recorder_pickle, data, size);
}

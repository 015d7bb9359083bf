// One expression over quantities, given by the build: compiled as it is, or refused as it must be.
#include "base/quantity.hpp"

using namespace headway;

auto mixed([[maybe_unused]] Seconds seconds, [[maybe_unused]] Bytes bytes,
           [[maybe_unused]] Flops flops, [[maybe_unused]] Watts watts,
           [[maybe_unused]] Joules joules, [[maybe_unused]] BytesPerSecond bandwidth,
           [[maybe_unused]] FlopsPerSecond rate) {
  return HEADWAY_EXPRESSION;
}

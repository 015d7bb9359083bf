// How much memory this process has held.
#pragma once

#include <cstdint>

namespace headway {

/// The most bytes that it has held at a time.
std::uint64_t most_resident_bytes();

}  // namespace headway

// Divisors: every degree of a layout divides something.
#pragma once

#include <cstdint>
#include <vector>

namespace headway {

/// All divisors of `number`, ascending; none of 0.
std::vector<std::int64_t> divisors(std::int64_t number);

}  // namespace headway

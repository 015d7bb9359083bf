// The order of names with numbers in them.
#pragma once

#include <string_view>

namespace headway {

/// Whether `a` comes before `b` where runs of digits count as numbers: "rank2" before "rank10".
bool natural_less(std::string_view a, std::string_view b);

}  // namespace headway

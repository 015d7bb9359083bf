// Counts as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headway {

/// "2048", "2,048", "8k": a whole number, its thousands between commas or not, k or m behind it for
/// 1,024 or 1,048,576 times as many, in either case. Nothing for anything else, and for what 64
/// bits do not hold.
std::optional<std::int64_t> written_count(std::string_view text);

}  // namespace headway

// Keys that would nest tables too deep, found before toml++ sees them: it limits how deep values
// nest, but a dotted key (a.b.c. ... = 1) nests tables just as deep and would exhaust the stack.
#pragma once

#include <optional>
#include <string_view>

namespace headway {

/// The line of the first dotted key of more parts than kDeepestNesting, or nothing. Text that is no
/// valid TOML may be misread from its first error on, where toml++ stops as well.
std::optional<int> line_of_deep_key(std::string_view ascii);

}  // namespace headway

// Tables of fits of serving: a head, its units, lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headway {

using UnitTable = std::vector<std::vector<std::string>>;

/// As Markdown, with the units in the head.
std::string markdown_of(UnitTable table, std::size_t left);

}  // namespace headway

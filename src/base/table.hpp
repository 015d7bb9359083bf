// Text tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace headway {

/// Rows of cells as aligned columns, two spaces apart: the first column to the left, the others to
/// the right. Rows may be of unequal length. Cells are UTF-8 and count one column a code point.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace headway

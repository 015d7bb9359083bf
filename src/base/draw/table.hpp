// Text tables for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headway {

/// Rows of cells as aligned columns, two spaces apart: the first `left` columns to the left, the
/// others to the right. Rows may be of unequal length. Cells are UTF-8 and count one column a code
/// point. What is wider than table_columns() (base/columns.hpp) goes on below, the columns to
/// the left repeated; of text alone, all of it to the left, the last column goes on below itself.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left = 1);

/// The same as a table of Markdown; the first row is its head. A cell can neither end its column
/// nor bring markup of its own.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows, std::size_t left = 1);

/// Lines of at most text_columns(), broken at words, the first behind `first` blanks, the others
/// behind `others`.
std::string wrapped(const std::string& text, std::size_t first, std::size_t others);

}  // namespace headway

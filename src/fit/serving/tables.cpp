#include "fit/serving/tables.hpp"

#include "base/draw/table.hpp"

namespace headway {

std::string markdown_of(UnitTable table, std::size_t left) {
  for (std::size_t i = 0; i < table[1].size(); ++i) {
    if (!table[1][i].empty()) table[0][i] += " " + table[1][i];
  }
  table.erase(table.begin() + 1);
  return markdown_table(table, left);
}

}  // namespace headway

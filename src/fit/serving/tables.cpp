#include "fit/serving/tables.hpp"

#include "base/draw/table.hpp"

namespace headway {

std::string markdown_of(UnitTable table, std::size_t left) {
  for (std::size_t i = 0; i < table[1].size(); ++i) {
    const std::string& unit = table[1][i];
    if (!unit.empty() && !table[0][i].ends_with(unit)) table[0][i] += " " + unit;
  }
  table.erase(table.begin() + 1);
  return markdown_table(table, left);
}

}  // namespace headway

// Tables of measured times, read from files. Internal to src/api/simulate.
#pragma once

#include <string>

#include "base/document/csv.hpp"
#include "platform/files.hpp"

namespace headway {

constexpr std::size_t kLargestTable = std::size_t{1} << 28;  // bytes: six million passes

inline Result<Csv> table_of(const std::string& file) {
  const auto text = read_file(file, kLargestTable);
  if (!text) return text.problems();
  return parse_csv(*text, file);
}

}  // namespace headway

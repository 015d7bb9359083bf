// Published figures for tests. They lie beside the project, are not part of it, and may be absent.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"

namespace headway {

/// A file of ../shared/workloads beside the project or one of the folders around it; empty where
/// there is none.
inline std::string workloads_file(const std::string& name) {
  namespace fs = std::filesystem;
  for (fs::path at = source_dir(); at.has_relative_path(); at = at.parent_path()) {
    const fs::path file = at.parent_path() / "shared" / "workloads" / name;
    if (!fs::exists(file)) continue;
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  return {};
}

/// Its rows, where it is here.
inline Csv workloads_table(const std::string& name) {
  const auto table = parse_csv(workloads_file(name), name);
  return table.ok() ? *table : Csv();
}

inline std::string cell_of(const Csv& table, const CsvRow& row, const std::string& column) {
  const auto at = table.column(column);
  return at ? row.cells[*at] : "";
}
inline double number_of(const Csv& table, const CsvRow& row, const std::string& column) {
  return std::atof(cell_of(table, row, column).c_str());
}

}  // namespace headway

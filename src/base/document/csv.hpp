// Comma-separated values (RFC 4180) with a header row.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway {

struct CsvRow {
  int line = 0;                    // of the row's first character, 1-based
  std::vector<std::string> cells;  // as many as the header has
};

struct Csv {
  std::string file;  // as shown in messages
  int header_line = 0;
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  /// The index of the column `name`, or nothing.
  std::optional<std::size_t> column(std::string_view name) const;
};

/// Reads a table: cells in double quotes may hold commas, line breaks and quotes (doubled). Lines
/// end in LF or CRLF; empty lines and a byte-order mark are skipped. Problems, each with its line:
/// rows of another length than the header, quotes left open or in the middle of a cell, columns
/// without a name or named twice, no header at all.
Result<Csv> parse_csv(std::string_view text, std::string file);

/// Columns of `csv` that are needed but not there, each as a problem.
Problems missing_columns(const Csv& csv, const std::vector<std::string>& names);

/// A number with twelve significant digits.
std::string csv_number(double value);

/// One cell as it has to stand in a file: in quotes where it needs them.
std::string csv_cell(std::string_view text);

}  // namespace headway

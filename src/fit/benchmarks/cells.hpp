// The cells of one row of a benchmark file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/document/csv.hpp"

namespace headway::benchmarks {

/// Reads the cells of a row; the first that is missing or cannot be read is kept as the reason why
/// the row is not predicted.
class Cells {
 public:
  Cells(const Csv& csv, const CsvRow& row) : csv_(csv), row_(row) {}

  /// Empty where the table has no such column.
  const std::string& text(std::string_view column) const;
  /// A whole number from 1 to 10^9 that must be there; 1 where it is not.
  std::int64_t count(std::string_view column);
  /// The same, `otherwise` where the cell is empty.
  std::int64_t count_or(std::string_view column, std::int64_t otherwise);
  /// A number above 0 that must be there; 1 where it is not.
  double number(std::string_view column);
  double number_or(std::string_view column, double otherwise);

  void skip(std::string reason, std::string detail = {});
  bool sound() const { return reason.empty(); }

  std::string reason, detail;

 private:
  void refuse(std::string_view column, std::string_view legal);

  const Csv& csv_;
  const CsvRow& row_;
};

}  // namespace headway::benchmarks

#include "fit/benchmarks/cells.hpp"

#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway::benchmarks {
namespace {

constexpr double kMostCount = 1e9, kMostNumber = 1e15;

std::optional<double> positive(const std::string& cell, double most) {
  const auto value = real_number(cell);
  return value && *value > 0 && *value <= most ? value : std::nullopt;
}

}  // namespace

const std::string& Cells::text(std::string_view column) const {
  static const std::string kNone;
  const auto at = csv_.column(column);
  return at ? row_.cells[*at] : kNone;
}

void Cells::skip(std::string why, std::string more) {
  if (!sound()) return;
  reason = std::move(why);
  detail = std::move(more);
}

void Cells::refuse(std::string_view column, std::string_view legal) {
  const std::string& cell = text(column);
  if (cell.empty()) return skip("cell missing: " + std::string(column));
  skip("cell that cannot be read: " + std::string(column),
       "'" + printable(cell) + "' is not " + std::string(legal));
}

std::int64_t Cells::count(std::string_view column) {
  const auto value = positive(text(column), kMostCount);
  if (value && *value == std::floor(*value)) return static_cast<std::int64_t>(*value);
  refuse(column, "a whole number from 1 to 1e9");
  return 1;
}

std::int64_t Cells::count_or(std::string_view column, std::int64_t otherwise) {
  return text(column).empty() ? otherwise : count(column);
}

double Cells::number(std::string_view column) {
  const auto value = positive(text(column), kMostNumber);
  if (value) return *value;
  refuse(column, "a number above 0");
  return 1;
}

double Cells::number_or(std::string_view column, double otherwise) {
  return text(column).empty() ? otherwise : number(column);
}

}  // namespace headway::benchmarks

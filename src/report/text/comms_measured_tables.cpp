// Numbers and tables as the text on measured communication writes them.
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "report/text/comms_measured.hpp"

namespace headway {
namespace {

constexpr std::size_t kColumns = 80;

}  // namespace

bool is_wide(const std::string& table) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) {
    widest = std::max(widest, table.find('\n', at) - at);
  }
  return widest > kColumns;
}

std::string number_text(double value) {
  if (!(std::abs(value) < 1e15)) return formatted("%.3g", value);
  std::string out = formatted(value == std::floor(value) ? "%.0f" : "%.1f", value);
  const std::size_t point = std::min(out.find('.'), out.size());
  for (int at = static_cast<int>(point) - 3; at > 0; at -= 3) {
    out.insert(static_cast<std::size_t>(at), ",");
  }
  return out;
}

std::string share_text(double share) {
  const double value = 100 * share;
  return formatted(value == 0 || value >= 9.95 ? "%.0f %%" : "%.2g %%", value);
}

std::string wrapped(const std::string& text, std::size_t indent) {
  return wrapped(text, indent, indent + 5);
}

std::string plural(std::size_t count, const std::string& one, const std::string& many) {
  return number_text(static_cast<double>(count)) + " " + (count == 1 ? one : many);
}

void drop_silent_columns(Rows& rows, std::size_t first) {
  for (std::size_t column = rows.front().size() - 1; column >= first; --column) {
    const bool silent = std::all_of(rows.begin() + 1, rows.end(),
                                    [&](const auto& row) { return row[column] == "-"; });
    if (!silent) continue;
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

std::string fitted(Rows rows) {
  drop_silent_columns(rows, 2);
  const bool alike = rows.size() > 1 && std::all_of(rows.begin() + 1, rows.end(), [&](auto& row) {
                       return row.front() == rows[1].front();
                     });
  if (alike) {
    for (auto& row : rows) row.erase(row.begin());
  }
  for (std::size_t limit = 40;; limit -= 2) {
    Rows cut = rows;
    for (auto& row : cut) row.front() = "  " + printable(row.front(), limit);
    std::string out = aligned(cut, alike ? 1 : 2);
    if (!is_wide(out) || limit <= 8) return out;
  }
}

std::string and_more(std::size_t left_out) {
  return left_out == 0
             ? ""
             : "  and " + number_text(static_cast<double>(left_out)) + " more (--json has all)\n";
}

}  // namespace headway

#include "base/draw/table.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/columns.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

std::size_t width(const std::string& cell) {
  return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : printable(text, 60)) {
    if (std::string_view("|\\`*[]").find(c) != std::string_view::npos) out += '\\';
    if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr std::size_t kGap = 2;

std::vector<std::size_t> widths_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  return widths;
}

// Which columns stand beside one another; each piece begins with the `left` ones.
std::vector<std::vector<std::size_t>> pieces_of(const std::vector<std::size_t>& widths,
                                                std::size_t left) {
  std::vector<std::vector<std::size_t>> out(1);
  std::size_t fixed = 0, used = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::size_t needed = widths[i] + (i > 0 ? kGap : 0);
    if (i < left) {
      fixed += needed;
      used = fixed;
    } else if (used + needed > table_columns() && out.back().size() > left) {
      out.emplace_back();
      for (std::size_t column = 0; column < left; ++column) out.back().push_back(column);
      used = fixed + needed;
    } else {
      used += needed;
    }
    out.back().push_back(i);
  }
  return out;
}

std::string line_of(const std::vector<std::string>& row, const std::vector<std::size_t>& columns,
                    const std::vector<std::size_t>& widths, std::size_t left) {
  std::string line;
  for (const std::size_t i : columns) {
    if (i >= row.size()) break;
    const std::string pad(widths[i] - width(row[i]), ' ');
    if (i > 0) line += std::string(kGap, ' ');
    line += i < left ? row[i] + pad : pad + row[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Columns of text, of which the last is broken at words and goes on below itself.
std::string with_broken_last(const std::vector<std::vector<std::string>>& rows,
                             const std::vector<std::size_t>& widths) {
  const std::size_t last = widths.size() - 1;
  std::vector<std::size_t> before(last);
  std::iota(before.begin(), before.end(), 0U);
  const std::size_t indent = std::accumulate(
      widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(last), last * kGap);
  std::string out;
  for (const auto& row : rows) {
    std::string line = line_of(row, before, widths, widths.size());
    if (row.size() > last) {
      line.back() = ' ';
      line.resize(std::max(line.size(), line.size() + indent - width(line)), ' ');
      line += wrapped(row[last], indent, indent).substr(indent);
    }
    out += line;
  }
  return out;
}

}  // namespace

// A table that is too wide comes in pieces one below the other, each with the columns to the left.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  const std::vector<std::size_t> widths = widths_of(rows);
  const std::size_t all = std::accumulate(widths.begin(), widths.end(),
                                          (std::max<std::size_t>(widths.size(), 1) - 1) * kGap);
  const bool is_text = widths.size() > 1 && left >= widths.size();
  if (is_text && all > table_columns()) return with_broken_last(rows, widths);
  std::string out;
  for (const std::vector<std::size_t>& columns : pieces_of(widths, left)) {
    if (!out.empty()) out += "\n";
    for (const auto& row : rows) out += line_of(row, columns, widths, left);
  }
  return out;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i]) out += "| " + markdown_cell(cell) + " ";
    out += "|\n";
    if (i > 0) continue;
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      out += column < left ? "|---" : "|---:";
    }
    out += "|\n";
  }
  return out;
}

std::string wrapped(const std::string& text, std::size_t first, std::size_t others) {
  const std::size_t columns = text_columns();
  std::string out, line(first, ' ');
  bool begun = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (begun && line.size() + 1 + word.size() > columns) {
      out += line + "\n";
      line = std::string(others, ' ');
      begun = false;
    }
    line += (begun ? " " : "") + word;
    begun = true;
    at = end + 1;
  }
  return out + line + "\n";
}

}  // namespace headway

#include "base/draw/table.hpp"

#include <algorithm>
#include <string_view>

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

}  // namespace

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      if (i > 0) line += "  ";
      line += i < left ? row[i] + pad : pad + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
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
  constexpr std::size_t kColumns = 80;
  std::string out, line(first, ' ');
  bool begun = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (begun && line.size() + 1 + word.size() > kColumns) {
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

#include "base/document/csv.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/formatted.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostProblems = 20;
constexpr std::size_t kMostColumnsSuggested = 200;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Reads one row after another from a text.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    if (text_.starts_with(kByteOrderMark)) position_ = kByteOrderMark.size();
  }

  bool at_end() const { return position_ >= text_.size(); }

  // The next row; without cells where the line is empty.
  CsvRow next(Problems& problems) {
    CsvRow row{line_, {}};
    if (end_of_line()) return row;
    do {
      row.cells.push_back(cell(problems));
    } while (take(','));
    if (!end_of_line()) {
      problem(problems, line_, "has text after a closing quote; double a quote inside quotes");
      while (!at_end() && !end_of_line()) ++position_;
    }
    return row;
  }

  void problem(Problems& problems, int line, std::string message) const {
    problems.push_back({{file_, line}, std::move(message), Trouble::malformed});
  }

 private:
  bool take(char c) {
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  // Takes a line break; the end of the text counts as one.
  bool end_of_line() {
    if (at_end()) return true;
    if (text_.substr(position_).starts_with("\r\n")) {
      position_ += 2;
    } else if (text_[position_] == '\n') {
      position_ += 1;
    } else {
      return false;
    }
    ++line_;
    return true;
  }

  std::string cell(Problems& problems) {
    if (take('"')) return quoted(problems);
    const std::size_t begin = position_;
    while (!at_end() && text_[position_] != ',' && text_[position_] != '\n' &&
           !text_.substr(position_).starts_with("\r\n")) {
      ++position_;
    }
    const std::string_view plain = text_.substr(begin, position_ - begin);
    if (plain.find('"') != plain.npos) {
      problem(problems, line_,
              "has a quote in the middle of the cell '" + printable(plain) +
                  "'; put the whole cell in quotes and double those inside");
    }
    return std::string(plain);
  }

  std::string quoted(Problems& problems) {
    const int opened = line_;
    std::string value;
    while (!at_end()) {
      const char c = text_[position_++];
      if (c == '"' && !take('"')) return value;
      if (c == '\n') ++line_;
      value += c;
    }
    problem(problems, opened, "opens a quote that is never closed");
    return value;
  }

  std::string_view text_;
  std::string file_;
  std::size_t position_ = 0;
  int line_ = 1;
};

void check_header(const CsvReader& reader, const CsvRow& header, Problems& problems) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < header.cells.size(); ++i) {
    const std::string& name = header.cells[i];
    if (name.empty()) {
      reader.problem(problems, header.line,
                     "column " + std::to_string(i + 1) + " of the header has no name");
    } else if (!seen.insert(name).second) {
      reader.problem(problems, header.line, "names the column '" + printable(name) + "' twice");
    }
  }
}

void shorten(Problems& problems, const std::string& file) {
  if (problems.size() <= kMostProblems) return;
  const std::size_t more = problems.size() - kMostProblems;
  problems.erase(problems.begin() + kMostProblems, problems.end());
  problems.push_back({file, "and " + std::to_string(more) + " more problems"});
}

}  // namespace

std::optional<std::size_t> Csv::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

Result<Csv> parse_csv(std::string_view text, std::string file) {
  Csv csv{std::move(file), 0, {}, {}};
  Problems problems;
  CsvReader reader(text, csv.file);
  while (!reader.at_end()) {
    CsvRow row = reader.next(problems);
    if (row.cells.empty()) continue;
    if (csv.header.empty()) {
      check_header(reader, row, problems);
      csv.header_line = row.line;
      csv.header = std::move(row.cells);
    } else if (row.cells.size() != csv.header.size()) {
      reader.problem(problems, row.line,
                     "has " + std::to_string(row.cells.size()) + " cells where the header has " +
                         std::to_string(csv.header.size()));
    } else {
      csv.rows.push_back(std::move(row));
    }
  }
  if (csv.header.empty())
    problems.push_back({csv.file, "is empty; its first row names the columns", Trouble::malformed});
  if (problems.empty()) return csv;
  shorten(problems, csv.file);
  return problems;
}

Problems missing_columns(const Csv& csv, const std::vector<std::string>& names) {
  Problems problems;
  const std::set<std::string_view> there(csv.header.begin(), csv.header.end());
  // A table with so many columns is none of ours: none of them is a slip of the pen.
  const bool ours = csv.header.size() <= kMostColumnsSuggested;
  const Where where(csv.file, csv.header_line);
  for (const std::string& name : names) {
    if (there.count(name)) continue;
    problems.push_back({where,
                        "has no column '" + name + "'" + (ours ? suggestion(name, csv.header) : ""),
                        Trouble::missing});
  }
  return problems;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_number(double value) {
  return formatted("%.12g", value);
}

}  // namespace headway

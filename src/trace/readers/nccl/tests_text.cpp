// The table of nccl-tests on the terminal. Rows: size count type [redop] [root] and twice (out of
// place, in place) time algbw busbw wrong; older versions leave columns out or empty.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "trace/readers/nccl/tests_table.hpp"
#include "trace/readers/readers.hpp"
#include "trace/readers/text_fields.hpp"

namespace headway {
namespace {

// What mpirun and srun put before a line goes: "[1,0]<stdout>:", "0: ".
std::string_view without_prefix(std::string_view line) {
  if (line.starts_with("[")) {
    const std::size_t end = line.find(">:");
    if (end != std::string_view::npos && end < 30) line.remove_prefix(end + 2);
  }
  const std::size_t digits = line.find_first_not_of("0123456789 ");
  if (digits != std::string_view::npos && digits > 0 && line[digits] == ':' &&
      line.substr(digits).starts_with(": ")) {
    line.remove_prefix(digits + 1);
  }
  return line;
}

class NcclTestsReader {
 public:
  explicit NcclTestsReader(Recording& recording) : recording_(recording) {}

  void add(std::string_view line) {
    line = without_prefix(line);
    name_by(line);
    if (line.find("NCCL INFO") != std::string_view::npos) return;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    if (words.front() == "#") return add_comment(words);
    if (words.front().starts_with("#")) return;
    if (time_columns_.empty() || !to_number<std::int64_t>(words.front())) return;
    add_row(words);
  }

  void finish() {
    table_.unconnected = table_.unconnected || (starts_ > 1 && repeats_a_row());
    add_table(table_, recording_);
    table_ = {};
    time_columns_.clear();
  }

 private:
  // The test's own lines name it for certain; any other line that names a program is a hint.
  void name_by(std::string_view line) {
    constexpr std::string_view kStarting = "# Collective test starting: ";
    constexpr std::string_view kConcluded = "# Collective test concluded: ";
    const auto behind = [&](std::string_view key) {
      const std::size_t at = line.find(key);
      return at == std::string_view::npos ? std::string_view() : line.substr(at + key.size());
    };
    if (const auto name = behind(kStarting); !name.empty()) {
      finish();
      named_ = operation_of_program(name).value_or(Operation::other);
    } else if (const auto done = behind(kConcluded); !done.empty()) {
      if (!table_.op) table_.op = operation_of_program(done);
    } else if (line.find("# nThread ") != std::string_view::npos) {
      finish();  // the next test, though its table may never come
      starts_ = std::exchange(rows_since_start_, false) ? 1 : starts_ + 1;
      forget_ranks();
    } else if (const auto op = operation_of_program(line)) {
      hint_ = op;
    }
  }

  void add_comment(const std::vector<std::string_view>& words) {
    const auto has = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (words.size() > 3 && words[1] == "Rank" && (has("Pid") || has("Group"))) {
      const auto number = to_number<std::int64_t>(words[2]);
      if (number && *number >= 0 && *number < kMostRanks) ranks_.insert(*number);
      ++rank_lines_;
      const auto on = std::find(words.begin(), words.end(), "on");
      if (on != words.end() && on + 1 != words.end()) hosts_.emplace(*(on + 1));
    }
    if (!has("algbw") || !has("busbw")) return;
    // What was said since the last table is of this one.
    finish();
    table_.op = std::exchange(named_, std::nullopt);
    table_.hint = std::exchange(hint_, std::nullopt);
    if (!ranks_.empty()) {
      const std::int64_t highest = *ranks_.rbegin() + 1;
      table_.ranks = highest;
      table_.elided = highest > static_cast<std::int64_t>(ranks_.size());
      table_.unconnected = rank_lines_ > ranks_.size();
    }
    if (!hosts_.empty() && !table_.elided) {
      table_.nodes = static_cast<std::int64_t>(hosts_.size());
    }
    forget_ranks();
    columns_.assign(words.begin() + 1, words.end());
    time_columns_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == "time") time_columns_.push_back(i);
    }
    has_reduction_ = has("redop");
    has_root_ = has("root");
  }

  void add_row(const std::vector<std::string_view>& words) {
    NcclTestsRow row;
    if (words.size() < 3 || words.size() > columns_.size()) return skip();
    const auto size = to_number<double>(words[0]), elements = to_number<double>(words[1]);
    if (!size || !elements || *size < 0 || *elements < 0) return skip();
    row.size = *size;
    row.elements = *elements;
    row.type = element_type_from(words[2]);
    std::size_t at = 3;
    bool empty_reduction = false;
    if (has_reduction_) {
      const bool there = at < words.size() && !to_number<double>(words[at]) && words[at] != "N/A";
      empty_reduction = !there;
      if (there) row.reduces = words[at++] != "none";
    }
    if (has_root_ && at < words.size()) {
      const auto root = to_number<std::int64_t>(words[at++]);
      if (!root) return skip();
      row.rooted = *root >= 0;
    }
    // Empty columns shift what follows to the left.
    const std::size_t shift = columns_.size() - words.size();
    bool any = false;
    for (std::size_t i = 0; i < time_columns_.size() && i < 2; ++i) {
      const std::size_t column = time_columns_[i];
      if (column < shift + at || column - shift + 2 >= words.size()) continue;
      NcclTestsTime& time = i == 0 ? row.out_of_place : row.in_place;
      const std::size_t first = column - shift;
      const auto us = to_number<double>(words[first]);
      if (!us || *us < 0) continue;
      time.time_us = *us;
      time.algorithm_bandwidth = to_number<double>(words[first + 1]).value_or(-1);
      time.bus_bandwidth = to_number<double>(words[first + 2]).value_or(-1);
      time.checked = first + 3 < words.size() && to_number<double>(words[first + 3]).has_value();
      any = true;
    }
    if (!any) return skip();
    table_.empty_reduction_column = table_.empty_reduction_column || empty_reduction;
    table_.rows.push_back(row);
    rows_since_start_ = true;
    ++recording_.records_read;
  }

  void forget_ranks() {
    ranks_.clear();
    rank_lines_ = 0;
    hosts_.clear();
  }

  // A size stands again in one table where several processes print into it (and where a test is
  // told to do all again).
  bool repeats_a_row() const {
    std::set<double> sizes;
    return std::any_of(table_.rows.begin(), table_.rows.end(),
                       [&](const NcclTestsRow& row) { return !sizes.insert(row.size).second; });
  }

  void skip() { omit(recording_, "rows that could not be read"); }

  Recording& recording_;
  NcclTestsTable table_;
  std::vector<std::string> columns_;
  std::vector<std::size_t> time_columns_;
  bool has_reduction_ = false, has_root_ = false;
  std::optional<Operation> named_, hint_;  // of the next table
  static constexpr std::int64_t kMostRanks = 1 << 24;
  std::set<std::int64_t> ranks_;  // that lines list, since the test started
  std::size_t rank_lines_ = 0;
  std::set<std::string> hosts_;
  int starts_ = 0;  // of tests, since a row
  bool rows_since_start_ = false;
};

}  // namespace

void read_nccl_tests(ByteSource& source, Recording& recording) {
  LineReader lines(source);
  NcclTestsReader reader(recording);
  std::string_view line;
  while (lines.next(line)) reader.add(line);
  reader.finish();
  note_damage(lines, recording);
}

}  // namespace headway

// The DeepSpeed communication logger: a line for each call,
//   ... | comm op: reduce_scatter_tensor | time (ms): 9.46 | msg size: 678.86 MB | algbw ...
// and a table at the end: the operation alone on a line, then size, count, total and mean latency.
// Sizes are those of the call's tensor on one rank, in units of 1024, rounded to two decimals. The
// bandwidths printed are not read: they use the world's size for every group, and count some
// operations twice. Times are the host's, after synchronising the device.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/readers/readers.hpp"
#include "trace/readers/text_fields.hpp"

namespace headway {
namespace {

std::optional<double> size_of(std::string_view number, std::string_view unit) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"B", 1}, {"KB", 1024}, {"MB", 1048576}, {"GB", 1073741824}, {"TB", 1099511627776}};
  const auto value = to_number<double>(number);
  for (const auto& [name, bytes] : units) {
    if (value && *value >= 0 && unit == name) return *value * bytes;
  }
  return std::nullopt;
}

class DeepSpeedReader {
 public:
  explicit DeepSpeedReader(Recording& recording) : recording_(recording) {
    rank_index(recording_, recording_.source);
  }

  void add(std::string_view line) {
    if (line.find("| comm op: ") != std::string_view::npos) return add_line(line);
    if (line.find("Comm. Op") != std::string_view::npos) {
      // Each table repeats what the ones before it said; a second form tells of stragglers.
      in_table_ = line.find("Straggler") == std::string_view::npos ||
                  line.find("Total Latency") != std::string_view::npos;
      if (in_table_) table_.clear();
      table_op_.reset();
      return;
    }
    if (in_table_) add_table_line(words_of(line));
  }

  void finish() {
    drop_cumulative_times();
    std::int64_t repeated = 0;
    for (const auto& [name, call] : table_) {
      if (lines_of_.count(name) > 0) {
        ++repeated;
      } else {
        recording_.calls.push_back(call);
      }
    }
    leave_unsaid(recording_, "rows of the summary, which repeats the lines", repeated);
    if (recording_.calls.empty()) return;
    leave_unsaid(recording_, "sizes are rounded to two decimals");
  }

 private:
  void add_line(std::string_view line) {
    const std::string_view name = word_after(line, "comm op: ");
    const auto op = operation_from(name);
    const auto ms = to_number<double>(word_after(line, "time (ms): "));
    const std::string_view number = word_after(line, "msg size: ");
    const auto bytes = number.empty()
                           ? std::nullopt
                           : size_of(number, word_after(line, std::string(number) + " "));
    if (!op || !ms || *ms < 0 || !bytes) return omit(recording_, "lines that could not be read");
    ++recording_.records_read;
    recording_.calls.push_back(call_of(*op, *bytes, *ms, 1));
    lines_of_.emplace(name);
  }

  void add_table_line(const std::vector<std::string_view>& words) {
    if (words.size() == 1) {
      table_op_ = operation_from(words.front());
      table_name_ = words.front();
      if (!table_op_) in_table_ = words.front().find_first_not_of("-=") == std::string_view::npos;
      return;
    }
    if (words.size() < 5 || !table_op_) {
      in_table_ = in_table_ && words.empty();
      return;
    }
    const auto bytes = size_of(words[0], words[1]);
    const auto count = to_number<double>(words[2]), total = to_number<double>(words[3]);
    if (!bytes || !count || *count < 1 || !total || *total < 0) {
      return omit(recording_, "lines that could not be read");
    }
    ++recording_.records_read;
    // The mean that is printed leaves out the extremes; total over count does not.
    table_.emplace_back(table_name_, call_of(*table_op_, *bytes, *total / *count, *count));
  }

  RecordedCall call_of(Operation op, double bytes, double ms, double count) {
    RecordedCall call;
    call.op = op;
    call.count = count;
    call.duration = Seconds(ms * 1e-3);
    call.time = TimeKind::host;
    // The tensor logged is the input: of an all-gather one rank's part, else the whole.
    if (op == Operation::all_gather || op == Operation::gather) {
      call.counted_bytes = Bytes(bytes);
      call.counted_part = true;
      leave_unsaid(recording_, kCallsWithoutWhole);
    } else if (op != Operation::barrier) {
      call.bytes = Bytes(bytes);
    }
    return call;
  }

  // DeepSpeed 0.18.3 to 0.19.6 never reset their timers: of equal calls each reports the sum of all
  // before it. Five or more that only grow, to over 2.5 times the first, are not believed.
  void drop_cumulative_times() {
    std::map<std::pair<Operation, double>, std::vector<RecordedCall*>> series;
    for (RecordedCall& call : recording_.calls) {
      const Bytes size = call.bytes ? *call.bytes : call.counted_bytes.value_or(Bytes(0));
      series[{call.op, size.value()}].push_back(&call);
    }
    for (auto& [key, calls] : series) {
      if (calls.size() < 5) continue;
      bool grows = *calls.back()->duration > 2.5 * *calls.front()->duration;
      for (std::size_t i = 1; i < calls.size() && grows; ++i) {
        grows = *calls[i]->duration > *calls[i - 1]->duration;
      }
      if (!grows) continue;
      for (RecordedCall* call : calls) {
        call->duration.reset();
        call->time = TimeKind::none;
      }
      omit(recording_, "times that only grow (DeepSpeed 0.18.3 to 0.19.6 sums them up)",
           static_cast<std::int64_t>(calls.size()));
    }
  }

  Recording& recording_;
  std::set<std::string> lines_of_;  // operations that have lines of their own
  std::vector<std::pair<std::string, RecordedCall>> table_;
  std::optional<Operation> table_op_;
  std::string table_name_;
  bool in_table_ = false;
};

}  // namespace

void read_deepspeed(ByteSource& source, Recording& recording) {
  LineReader lines(source);
  DeepSpeedReader reader(recording);
  std::string_view line;
  while (lines.next(line)) reader.add(line);
  reader.finish();
  note_damage(lines, recording);
}

}  // namespace headway

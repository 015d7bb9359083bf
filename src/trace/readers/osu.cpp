// OSU micro-benchmarks: "# OSU MPI Allreduce Latency Test v7.3", "# Size  Avg Latency(us)", rows of
// size and value. Sizes are as in MPI's interface: one rank's part of an all-gather, the message to
// one rank of an all-to-all. The number of ranks is not printed, except that point-to-point tests
// have two; a log that repeats the command that started the test ("mpirun -np 16 ./osu_allgather")
// says it there.
#include <string>
#include <vector>

#include "trace/readers/readers.hpp"
#include "trace/readers/text_fields.hpp"

namespace headway {
namespace {

// "# OSU NCCL Allgather Latency Test v7" -> all_gather; point-to-point tests are sends.
std::optional<Operation> op_of(std::string_view title) {
  if (const auto op = operation_from(title)) return op;
  const bool point_to_point = title.find("Latency") != std::string_view::npos ||
                              title.find("Bandwidth") != std::string_view::npos;
  return point_to_point ? std::optional(Operation::send) : std::nullopt;
}

// The number of ranks in the command line of a launcher.
std::optional<std::int64_t> ranks_in_command(std::string_view line) {
  if (line.find("osu_") == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view flag : {"-np", "-n", "--np", "--ntasks"}) {
      if (words[i] == flag && i + 1 < words.size()) return to_number<std::int64_t>(words[i + 1]);
      if (words[i].starts_with(flag) && words[i].substr(flag.size()).starts_with("=")) {
        return to_number<std::int64_t>(words[i].substr(flag.size() + 1));
      }
    }
  }
  return std::nullopt;
}

class OsuReader {
 public:
  explicit OsuReader(Recording& recording) : recording_(recording) {}

  void add(std::string_view line) {
    if (const auto ranks = ranks_in_command(line); ranks && *ranks > 0) ranks_ = ranks;
    const std::size_t title = line.find("# OSU ");
    if (title != std::string_view::npos) {
      const auto op = op_of(line.substr(title));
      known_ = op.has_value();
      op_ = op.value_or(Operation::other);
      // Both directions at once, or many pairs: not the time of one message.
      single_ = line.find("Bi-Directional") == std::string_view::npos &&
                line.find("Multi") == std::string_view::npos;
      kind_ = Kind::none;
      if (!known_ || !single_) omit(recording_, "tests of other kinds");
      return;
    }
    if (line.starts_with("# Size")) {
      const bool latency = line.find("Latency") != std::string_view::npos;
      const bool bandwidth = line.find("Bandwidth") != std::string_view::npos;
      kind_ = latency ? Kind::latency_us : bandwidth ? Kind::mb_per_s : Kind::none;
      return;
    }
    if (!known_ || !single_ || kind_ == Kind::none || line.starts_with("#")) return;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    const auto size = to_number<double>(words[0]);
    const auto value = words.size() < 2 ? std::nullopt : to_number<double>(words[1]);
    if (!size || !value || *size < 0 || *value <= 0) {
      return omit(recording_, "rows that could not be read");
    }
    ++recording_.records_read;
    RecordedCall call;
    call.op = op_;
    call.rank = rank_index(recording_, "all ranks");
    const bool pair = call.op == Operation::send;
    const auto ranks = pair ? std::optional<std::int64_t>(2) : ranks_;
    call.group = group_index(
        recording_, ranks ? std::to_string(*ranks) + " ranks" : std::string("all ranks"), ranks);
    if (call.op == Operation::reduce_scatter) {
      call.bytes = Bytes(*size);  // OSU counts the whole input here
    } else {
      set_bytes_from_count(call, *size, ranks);
    }
    if (!call.bytes) leave_unsaid(recording_, kCallsWithoutWhole);
    call.duration = kind_ == Kind::latency_us ? Seconds(*value * 1e-6)
                                              : Bytes(*size) / BytesPerSecond(*value * 1e6);
    call.time = TimeKind::benchmark;
    recording_.calls.push_back(call);
  }

 private:
  enum class Kind { none, latency_us, mb_per_s };

  Recording& recording_;
  Operation op_ = Operation::other;
  bool known_ = false;
  bool single_ = true;
  std::optional<std::int64_t> ranks_;
  Kind kind_ = Kind::none;
};

}  // namespace

void read_osu(ByteSource& source, Recording& recording) {
  LineReader lines(source);
  OsuReader reader(recording);
  std::string_view line;
  while (lines.next(line)) reader.add(line);
  note_damage(lines, recording);
}

}  // namespace headway

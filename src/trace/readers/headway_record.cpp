// The files of headway's own recorders (trace/recording/record_file.hpp): a line of JSON, then
// records of 48 bytes, some of them with JSON behind them: {"group": 7, "ranks": [0, 2]} or of many
// {"group": 7, "first": 0, "step": 2, "size": 4096}, or where a rank knows no more than its own
// place
// {"group": 7, "size": 4, "member": 1, "rank": 6}; {"clock": {"at_ns", "offset_ns"}}; {"local": 1,
// "rank": 6}. A program may have been killed while it wrote: what is whole is read, the rest
// counted.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "trace/io/json_value.hpp"
#include "trace/readers/own_groups.hpp"
#include "trace/readers/readers.hpp"
#include "trace/recording/record_file.hpp"
#include "trace/recording/shared_kernels.hpp"

namespace headway {
namespace {

using record_file::Record;

static_assert(static_cast<int>(Operation::all_reduce) == record_file::kAllReduce &&
              static_cast<int>(Operation::send) == record_file::kSend &&
              static_cast<int>(Operation::other) == record_file::kOther);

constexpr std::size_t kLongestText = 64 * 1024 * 1024;  // the ranks of a group, a number each
constexpr std::int64_t kMostRanks = 10'000'000;         // of all groups together
constexpr std::size_t kPiece = 256 * 1024;
constexpr std::int64_t kLastStep = 0x7fffffff;  // numbers beyond are one

// What the clock of rank 0 is ahead of this rank's, measured at one time of this rank's.
struct ClockPair {
  std::int64_t at_ns = 0, offset_ns = 0;
};

// [RECORD-2] The time on the clock of rank 0: between two measurements of the offset it changes
// evenly, and goes on so beside them; with one measurement it stays.
std::int64_t on_common_clock(std::int64_t ns, const std::vector<ClockPair>& clock) {
  if (clock.empty()) return ns;
  const ClockPair &first = clock.front(), &last = clock.back();
  double offset = static_cast<double>(first.offset_ns);
  if (last.at_ns > first.at_ns) {
    const double drift = static_cast<double>(last.offset_ns - first.offset_ns) /
                         static_cast<double>(last.at_ns - first.at_ns);
    offset += drift * static_cast<double>(ns - first.at_ns);
  }
  const double moved = static_cast<double>(ns) + offset;
  return std::abs(moved) < static_cast<double>(kMostNanoseconds)
             ? ns + static_cast<std::int64_t>(std::llround(offset))
             : ns;
}

std::optional<Operation> numbered_operation(std::uint8_t number) {
  if (number >= kOperations.size()) return std::nullopt;
  return static_cast<Operation>(number);
}

class RecordReader {
 public:
  RecordReader(ByteSource& source, Recording& recording) : source_(source), recording_(recording) {}

  void read() {
    if (!read_header()) return;
    Record record;
    if (read_record(record)) read_state(record);
    while (read_record(record)) add(record);
    finish();
  }

 private:
  bool read_header() {
    std::string line;
    char c = 0;
    while (line.size() < kLongestText && fill(&c, 1) == 1 && c != '\n') line += c;
    JsonParser parser;
    const JsonValue header = c == '\n' ? parser.parse_copy(line) : JsonValue();
    const auto version = header["headway_record"].integer();
    if (!version || *version != record_file::kVersion) {
      omit(recording_,
           version ? "files of a later version of the recorder" : "files without their header");
      return false;
    }
    const auto number = header["rank"].integer();
    const bool is_rank = number && *number >= 0 && *number < kMostRanks;
    rank_ = rank_index(recording_, is_rank ? "rank " + std::to_string(*number) : recording_.source,
                       is_rank ? number : std::nullopt);
    began_ns_ = header["began_ns"].integer().value_or(0);
    if (const auto world = header["world"].integer(); world && *world > 0) {
      recording_.ranks[rank_].world_size = world;
    }
    ++recording_.records_read;
    return true;
  }

  bool read_record(Record& record) {
    char bytes[record_file::kRecordBytes];
    const std::size_t read = fill(bytes, sizeof bytes);
    if (read == sizeof bytes) {
      std::memcpy(&record, bytes, sizeof bytes);
      return true;
    }
    cut_ = cut_ || read > 0;
    return false;
  }

  std::size_t fill(char* to, std::size_t most) {
    std::size_t read = 0;
    while (read < most) {
      if (at_ == buffer_.size()) {
        buffer_ = read_up_to(source_, kPiece);
        at_ = 0;
        if (buffer_.empty()) break;
      }
      const std::size_t more = std::min(most - read, buffer_.size() - at_);
      std::memcpy(to + read, buffer_.data() + at_, more);
      at_ += more;
      read += more;
    }
    return read;
  }

  void read_state(const Record& record) {
    if (record.asked != record_file::kState) return add(record);
    const auto lost = static_cast<std::int64_t>(std::min<std::uint64_t>(record.bytes, 1ull << 48));
    omit(recording_, "calls that the recorder lost (buffer or disk full)", lost);
    whole_ = (record.flags & record_file::kWhole) != 0;
    came_ = record.start_ns;
    elsewhere_ = record.duration_ns;
  }

  void add(const Record& record) {
    if (record.asked == record_file::kText) return read_text(record);
    ++recording_.records_read;
    ++here_;
    if (record.asked == record_file::kStep) {
      ++recording_.marked_steps;
      if (record.start_ns <
          static_cast<std::uint64_t>(kMostNanoseconds)) {  // it ends with the next
        recording_.steps.push_back(
            {rank_, static_cast<std::int64_t>(std::min<std::uint64_t>(record.bytes, 1ull << 48)),
             static_cast<std::int64_t>(record.start_ns), 0});
      }
    } else if (record.asked == record_file::kWait) {
      ++recording_.ranks[rank_].waits;
      recording_.ranks[rank_].waited += seconds_of(record);
    } else if (record.asked == record_file::kFile) {
      leave_unsaid(recording_, "reads and writes of files, which are no communication");
    } else {
      add_call(record);
    }
  }

  static Seconds seconds_of(const Record& record) {
    return Seconds(static_cast<double>(record.duration_ns) * 1e-9);
  }

  void add_call(const Record& record) {
    const auto op = numbered_operation(record.asked), done = numbered_operation(record.done);
    if (!op || !done) return omit(recording_, "records of unknown operations");
    RecordedCall call;
    call.op = *op;
    if (*done != *op) call.done_as = *done;
    call.rank =
        local_rank(record.flags >> record_file::kLocalShift & (record_file::kMostLocals - 1));
    if (record.group != 0) call.group = group_of(record.group);
    const bool has_bytes = *op != Operation::barrier;
    const Bytes bytes(static_cast<double>(record.bytes));
    if (has_bytes && (record.flags & record_file::kNoBytes) == record_file::kNoBytes) {
      leave_unsaid(recording_, kCallsWithoutSize);
    } else if (has_bytes && (record.flags & (record_file::kPart | record_file::kEachPart))) {
      call.counted_bytes = bytes;
      call.counted_part = (record.flags & record_file::kEachPart) != 0;
    } else if (has_bytes) {
      call.bytes = bytes;
    }
    if (record.type > 0 && record.type <= kElementTypeNames.size()) {
      call.type = static_cast<ElementType>(record.type - 1);
    }
    if (record.start_ns < static_cast<std::uint64_t>(kMostNanoseconds)) {
      call.start_ns = static_cast<std::int64_t>(record.start_ns);
    }
    set_duration(record, call);
    if (record.flags & record_file::kSequence) call.sequence = record.sequence;
    if (record.flags & record_file::kPeer) call.peer = record.peer;
    if (record.flags & record_file::kTag) {
      call.tag = static_cast<std::int32_t>(record.stream);
    } else if (record.time == record_file::kDevice || record.time == record_file::kEnqueue) {
      call.stream = record.stream;
    }
    recording_.calls.push_back(call);
    if (const auto asked = record.flags >> record_file::kAskedShift; asked != 0) {
      asked_.resize(recording_.calls.size());  // of MPI's files none
      asked_.back() = static_cast<std::uint8_t>(asked);
    }
    if ((record.flags & record_file::kTogether) == 0) return;
    launches_.resize(recording_.calls.size());  // of MPI's files none: 56 bytes a call less
    launches_.back().group = std::to_string(record.start_ns) + "." + std::to_string(record.stream);
  }

  void set_duration(const Record& record, RecordedCall& call) {
    constexpr TimeKind kinds[] = {TimeKind::none, TimeKind::kernel, TimeKind::host,
                                  TimeKind::enqueue, TimeKind::host};
    if (record.time < std::size(kinds)) call.time = kinds[record.time];
    if (record.duration_ns == 0) call.time = TimeKind::none;
    if (record.flags & record_file::kCaptured) {
      call.time = TimeKind::none;
      leave_unsaid(recording_,
                   "calls put into a graph of the device's: how often they run, and how long, is "
                   "not known");
      return;
    }
    if (call.time == TimeKind::none) return leave_unsaid(recording_, "calls without a duration");
    call.duration = seconds_of(record);
    constexpr std::uint32_t kGoesOn = record_file::kUntil | record_file::kBeside;
    call.blocks = record.time == record_file::kHost && (record.flags & kGoesOn) == 0;
    call.own_time = call.blocks || record.time == record_file::kStream;
    if (record.flags & record_file::kUntil) {
      leave_unsaid(recording_,
                   "when calls that do not block were done: their time goes to where the program "
                   "asked");
    }
  }

  // A process may be several ranks, a device each.
  std::uint32_t local_rank(std::uint32_t local) {
    const auto found = locals_.find(local);
    return local == 0 || found == locals_.end() ? rank_ : found->second;
  }

  void define_local(const JsonValue& said) {
    const auto local = said["local"].integer(), number = said["rank"].integer(),
               device = said["device"].integer();
    if (!local || *local <= 0 || *local >= record_file::kMostLocals || (!number && !device)) {
      return omit(recording_, "texts that could not be read");
    }
    const std::string label =
        number ? "rank " + std::to_string(*number)
               : recording_.ranks[rank_].label + ", device " + std::to_string(*device);
    const std::uint32_t index = rank_index(recording_, label, number);
    recording_.ranks[index].world_size = recording_.ranks[rank_].world_size;
    locals_[static_cast<std::uint32_t>(*local)] = index;
  }

  std::uint32_t group_of(std::uint32_t number) {
    const auto [known, added] = groups_.try_emplace(number, 0);
    if (added) known->second = group_index(recording_, std::to_string(number));
    return known->second;
  }

  void read_text(const Record& record) {
    if (record.bytes > kLongestText) return lose_rest();
    std::string text(record_file::slots(record.bytes) * record_file::kRecordBytes, '\0');
    if (fill(text.data(), text.size()) < text.size()) return lose_rest();
    JsonParser parser;
    const JsonValue said = parser.parse_copy(std::string_view(text).substr(0, record.bytes));
    if (!said.is_object()) return omit(recording_, "texts that could not be read");
    ++recording_.records_read;
    if (said["group"].present()) define_group(said);
    if (said["local"].present()) define_local(said);
    const JsonValue clock = said["clock"];
    const auto at = clock["at_ns"].integer(), offset = clock["offset_ns"].integer();
    const auto is_time = [](std::int64_t ns) {
      return ns < kMostNanoseconds && ns > -kMostNanoseconds;
    };
    if (at && offset && is_time(*at) && is_time(*offset)) clock_.push_back({*at, *offset});
  }

  // Behind a damaged length nothing can be found again.
  void lose_rest() {
    omit(recording_, "the end of a file, cut off within a text");
    do {
      at_ = buffer_.size();
      char next = 0;
      if (fill(&next, 1) == 0) return;
    } while (true);
  }

  void define_group(const JsonValue& said) {
    const auto number = said["group"].integer();
    if (!number || *number <= 0 || *number > 0xffffffffll) {
      return omit(recording_, "texts that could not be read");
    }
    RecordedGroup& group = recording_.groups[group_of(static_cast<std::uint32_t>(*number))];
    if (const auto name = said["name"].text()) group.description = *name;
    const auto member = said["member"].integer(), own = said["rank"].integer();
    const auto is_rank = [](std::int64_t rank) { return rank >= 0 && rank < kMostRanks; };
    if (member && own && is_rank(*member) && is_rank(*own)) {
      group.members.push_back({*member, *own});
    }
    if (!group.ranks.empty()) return;  // said already
    said["ranks"].each([&](const JsonValue& rank) {
      if (const auto one = rank.integer()) group.ranks.push_back(*one);
    });
    const auto first = said["first"].integer(), step = said["step"].integer(),
               size = said["size"].integer();
    if (first && step && size && is_rank(*first) && is_rank(*step) && *size >= 0 &&
        *size <= ranks_left_) {
      ranks_left_ -= *size;
      for (std::int64_t i = 0; i < *size; ++i) group.ranks.push_back(*first + i * *step);
    }
    if (!group.ranks.empty()) {
      group.size = static_cast<std::int64_t>(group.ranks.size());
    } else if (size && *size > 0) {  // some are of another world
      group.size = size;
    }
  }

  // [RECORD-8] A device comes to a call later than its host marks steps: a call is of the step in
  // which it was asked for, and a step begins where the device begins with the first of its calls.
  void place_in_steps() {
    std::vector<RecordedStep>& steps = recording_.steps;
    std::sort(steps.begin(), steps.end(),
              [](const RecordedStep& a, const RecordedStep& b) { return a.start_ns < b.start_ns; });
    std::vector<std::int64_t> begins(steps.size(), kMostNanoseconds);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      RecordedCall& call = recording_.calls[i];
      if (asked_[i] == 0 || call.rank != rank_ || !call.start_ns) continue;
      const auto behind = std::upper_bound(
          steps.begin(), steps.end(), *call.start_ns,
          [](std::int64_t start, const RecordedStep& step) { return start < step.start_ns; });
      const auto begun = static_cast<std::size_t>(behind - steps.begin());
      call.step = RecordedCall::kBeforeSteps;
      for (std::size_t back = 1; back <= begun && back <= record_file::kAskedTurn; ++back) {
        const std::int64_t number = steps[begun - back].number;
        if (record_file::asked_after(number + 1) >> record_file::kAskedShift != asked_[i]) continue;
        call.step = static_cast<std::int32_t>(std::min<std::int64_t>(number, kLastStep));
        if (call.time == TimeKind::kernel) {
          begins[begun - back] = std::min(begins[begun - back], *call.start_ns);
        }
        break;
      }
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (begins[i] < kMostNanoseconds) steps[i].start_ns = begins[i];
    }
  }

  void finish() {
    if (!asked_.empty() && !recording_.steps.empty()) place_in_steps();
    share_kernels(recording_, launches_);
    for (RecordedCall& call : recording_.calls) {
      if (call.start_ns) call.start_ns = on_common_clock(*call.start_ns, clock_);
      // The file counts the ranks of the group, a recording those of the run; where the file says
      // no more than its own place, complete_groups() knows the others'.
      call.peer = global_rank(recording_, call, call.peer);
    }
    for (RecordedStep& step : recording_.steps) {
      step.start_ns = on_common_clock(step.start_ns, clock_);
    }
    const bool counted = !whole_ && came_ > 0 && came_ >= elsewhere_ && came_ < 1ull << 48;
    if (cut_ && !counted) omit(recording_, "records cut off at the end of a file");
    if (!whole_) say_what_is_missing(counted);
    if (!source_.damage().empty()) omit(recording_, source_.damage());
  }

  // [RECORD-7] What came and is neither here nor elsewhere was on its way when the program ended,
  // a record that is cut off among it.
  void say_what_is_missing(bool counted) {
    if (!counted) {
      return leave_unsaid(recording_,
                          "files that were not ended: the program was killed, or runs on, and its "
                          "last moments are not in them");
    }
    leave_unsaid(recording_, "files that were not ended: the program was killed, or runs on");
    const UnendedFile file = {.rank = rank_,
                              .began_ns = began_ns_,
                              .came = static_cast<std::int64_t>(came_),
                              .placed = static_cast<std::int64_t>(elsewhere_ + here_)};
    omit(recording_, kLastMoments, file.missing());
    recording_.unended.push_back(file);
  }

  ByteSource& source_;
  Recording& recording_;
  std::uint32_t rank_ = 0;
  std::int64_t began_ns_ = 0;
  bool whole_ = false;
  // Records that came, that are in other files or counted as lost, that are in this file.
  std::uint64_t came_ = 0, elsewhere_ = 0, here_ = 0;
  bool cut_ = false;    // in the middle of a record
  std::string buffer_;  // read and not used: from at_ on
  std::size_t at_ = 0;
  std::int64_t ranks_left_ = kMostRanks;
  std::map<std::uint32_t, std::uint32_t> groups_;  // by their number in the file
  std::vector<ClockPair> clock_;
  std::map<std::uint32_t, std::uint32_t> locals_;  // by number, of what is not the header's rank
  std::vector<std::uint8_t> asked_;  // of the calls up to the last that says when it was asked for
  std::vector<Launch> launches_;     // of the calls up to the last that ran with others
};

}  // namespace

void read_headway_record(ByteSource& source, Recording& recording) {
  RecordReader(source, recording).read();
}

}  // namespace headway

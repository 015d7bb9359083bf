// Lines of NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=COLL (src/enqueue.cc of NCCL; RCCL adds fields):
//   [2026-05-05 06:16:47] host:pid:tid [dev] NCCL INFO AllGather: opCount d sendbuff .. recvbuff ..
//   count 2097152 datatype 7 op 0 root 0 comm 0x55.. [nranks=2] stream 0x55..
// opCount is hexadecimal. The launcher may have put something before the line. Sizes are counts of
// NCCL's interface; the lines hold no duration.
#include <map>
#include <string>

#include "trace/readers/readers.hpp"
#include "trace/readers/text_fields.hpp"

namespace headway {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Days from 1970-01-01 (Howard Hinnant's algorithm, public domain).
std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400, of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719468;
}

// "[2026-05-05 06:16:47]", perhaps with a fraction; the time zone is not said, UTC is assumed.
std::optional<std::int64_t> timestamp_ns(std::string_view line) {
  for (std::size_t at = line.find('['); at != std::string_view::npos; at = line.find('[', at + 1)) {
    const std::string text(line.substr(at, 40));
    int year = 0, month = 0, day = 0, hour = 0, minute = 0;
    double second = 0;
    if (std::sscanf(text.c_str(), "[%4d-%2d-%2d %2d:%2d:%9lf]", &year, &month, &day, &hour, &minute,
                    &second) != 6) {
      continue;
    }
    if (year < 1970 || year > 2200 || month < 1 || month > 12 || !(second >= 0 && second < 61)) {
      continue;
    }
    const std::int64_t seconds =
        ((days_from_civil(year, month, day) * 24 + hour) * 60 + minute) * 60;
    return seconds * 1'000'000'000 + static_cast<std::int64_t>(second * 1e9);
  }
  return std::nullopt;
}

struct Origin {
  std::string process;  // "host:pid"; empty where the line does not say
  std::string device;   // as in "[1]"
};

// What stands around "NCCL INFO": "host:pid:tid [dev] NCCL INFO" or "... NCCL INFO [dev]".
Origin origin_of(std::string_view line, std::size_t info) {
  Origin origin;
  for (const std::string_view word : words_of(line.substr(0, info))) {
    const std::size_t last = word.rfind(':');
    const std::size_t first = last == 0 || last == std::string_view::npos
                                  ? std::string_view::npos
                                  : word.rfind(':', last - 1);
    if (first != std::string_view::npos && first > 0 && is_digits(word.substr(last + 1)) &&
        is_digits(word.substr(first + 1, last - first - 1))) {
      // Before the host: mpirun's "[1,0]<stdout>:", torchrun's "[default0]:".
      std::string_view host = word.substr(0, first);
      for (const std::string_view end : {">:", "]:"}) {
        const std::size_t marker = host.rfind(end);
        if (marker != std::string_view::npos) host.remove_prefix(marker + end.size());
      }
      origin.process = std::string(host) + std::string(word.substr(first, last - first));
      origin.device.clear();
    } else if (word.size() > 2 && word.front() == '[' && word.back() == ']' &&
               is_digits(word.substr(1, word.size() - 2))) {
      origin.device = word.substr(1, word.size() - 2);
    }
  }
  const std::string_view behind = line.substr(std::min(line.size(), info + 9));
  const std::size_t open = behind.find_first_not_of(' ');
  if (origin.device.empty() && open != std::string_view::npos && behind[open] == '[') {
    const std::string_view device = behind.substr(open + 1, behind.find(']') - open - 1);
    if (is_digits(device)) origin.device = device;
  }
  return origin;
}

std::string label_of(const Origin& origin, const Recording& recording) {
  std::string label = origin.process.empty() ? recording.source : origin.process;
  if (!origin.device.empty()) label += " [" + origin.device + "]";
  return label;
}

class NcclDebugReader {
 public:
  explicit NcclDebugReader(Recording& recording) : recording_(recording) {}

  void add(std::string_view line) {
    const std::size_t count = line.find(": opCount ");
    if (count != std::string_view::npos) return add_call(line, count);
    // "ncclCommInitRank comm 0x.. rank 3 nranks 8 cudaDev 3 .. commId 0x.. - Init COMPLETE"
    if (line.find(" commId ") != std::string_view::npos &&
        line.find(" nranks ") != std::string_view::npos) {
      add_communicator(line);
    }
  }

 private:
  struct Communicator {
    std::string id;
    std::optional<std::int64_t> size;
  };

  // A communicator's address means something within its process only.
  std::string key_of(const Origin& origin, std::string_view address) {
    return origin.process + " " + std::string(address);
  }

  void add_communicator(std::string_view line) {
    const std::size_t info = line.find("NCCL INFO");
    if (info == std::string_view::npos) return;
    const Origin origin = origin_of(line, info);
    const std::string_view address = word_after(line, " comm "), id = word_after(line, " commId ");
    if (address.empty() || id.empty()) return;
    const auto size = to_number<std::int64_t>(word_after(line, " nranks "));
    communicators_[key_of(origin, address)] = {"comm " + std::string(id), size};
    const auto number = to_number<std::int64_t>(word_after(line, " rank "));
    RecordedRank& rank = recording_.ranks[rank_index(recording_, label_of(origin, recording_))];
    // The rank within the largest communicator is the best guess of the global one.
    if (number && size && size.value_or(0) > rank.world_size.value_or(0)) {
      rank.number = number;
      rank.world_size = size;
    }
  }

  void add_call(std::string_view line, std::size_t colon) {
    const std::size_t name_at = line.find_last_of(" \t", colon) + 1;
    const auto op = operation_from(line.substr(name_at, colon - name_at));
    const std::size_t info = std::min(line.find("NCCL INFO"), name_at);
    const std::string_view fields = line.substr(colon);
    const auto elements = to_number<double>(word_after(fields, " count "));
    if (!op || !elements || *elements < 0) return omit(recording_, "lines that could not be read");
    ++recording_.records_read;
    const Origin origin = origin_of(line, info);
    RecordedCall call;
    call.op = *op;
    call.rank = rank_index(recording_, label_of(origin, recording_));
    if (const auto number = to_number<std::int64_t>(word_after(fields, " globalrank "))) {
      recording_.ranks[call.rank].number = number;
    }
    auto size = to_number<std::int64_t>([&] {
      const std::string_view word = word_after(fields, "[nranks=");
      return word.substr(0, word.find(']'));
    }());
    const std::string_view address = word_after(fields, " comm ");
    if (!address.empty()) {
      const auto known = communicators_.find(key_of(origin, address));
      std::string id = "comm " + std::string(address);
      if (known != communicators_.end()) {
        id = known->second.id;
        if (!size) size = known->second.size;
      } else if (!origin.process.empty()) {
        id += " of " + origin.process;
      }
      call.group = group_index(recording_, id, size);
      size = group_size(recording_, call);
    }
    call.start_ns = timestamp_ns(line.substr(0, info));
    call.sequence = to_number<std::int64_t>(word_after(fields, " opCount "), 16);
    if (call.op == Operation::send || call.op == Operation::receive ||
        call.op == Operation::broadcast || call.op == Operation::reduce) {
      call.peer = to_number<std::int64_t>(word_after(fields, " root "));
    }
    if (const auto type = to_number<std::int64_t>(word_after(fields, " datatype "))) {
      call.type = element_type_from_nccl(*type);
    }
    if (call.type) {
      set_bytes_from_count(call, *elements * bytes_per_element(*call.type), size);
    } else {
      leave_unsaid(recording_, "calls of an unknown number format");
    }
    if (!call.bytes) leave_unsaid(recording_, kCallsWithoutWhole);
    recording_.calls.push_back(call);
  }

  Recording& recording_;
  std::map<std::string, Communicator> communicators_;
};

}  // namespace

void read_nccl_debug(ByteSource& source, Recording& recording) {
  LineReader lines(source);
  NcclDebugReader reader(recording);
  std::string_view line;
  while (lines.next(line)) reader.add(line);
  note_damage(lines, recording);
  if (!recording.calls.empty()) leave_unsaid(recording, kLogWithoutDurations);
}

}  // namespace headway

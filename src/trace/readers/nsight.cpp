// Nsight Systems, exported to SQLite: kernels are rows of CUPTI_ACTIVITY_KIND_KERNEL (start, end in
// ns, deviceId, streamId, and a name by its number in StringIds). The sizes of NCCL's calls are in
// the payloads of the NVTX ranges around the launches of their kernels, where those were exported.
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>

#include "trace/io/sqlite.hpp"
#include "trace/readers/nsight_payload.hpp"
#include "trace/readers/readers.hpp"
#include "trace/recording/kernel_names.hpp"

namespace headway {
namespace {

// Nanoseconds since 1970 at the session's start; 0 where the table is missing.
std::int64_t session_start_ns(sqlite3* database) {
  const Statement query =
      prepare(database, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1");
  if (!next(query)) return 0;
  return sqlite3_column_int64(query.get(), 0);
}

// The kernels' names by their numbers, each asked for once.
class NamesByNumber {
 public:
  explicit NamesByNumber(sqlite3* database)
      : query_(prepare(database, "SELECT value FROM StringIds WHERE id = ?")) {}

  const std::string& name_of(std::int64_t id) {
    const auto [known, is_new] = names_.try_emplace(id);
    if (is_new && query_) {
      sqlite3_reset(query_.get());
      sqlite3_bind_int64(query_.get(), 1, id);
      if (sqlite3_step(query_.get()) == SQLITE_ROW) known->second = text_at(query_.get(), 0);
    }
    return known->second;
  }

 private:
  Statement query_;
  std::unordered_map<std::int64_t, std::string> names_;
};

// Sizes and communicators of calls whose launches lie in a range of NCCL with a payload.
void set_payloads(sqlite3* database, const std::vector<LaunchKey>& launch_of_call,
                  Recording& recording) {
  const NcclPayloads payloads = read_nccl_payloads(database);
  if (payloads.by_thread.empty()) return;
  const auto launches = read_launches(database, launch_of_call);
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const auto launch = launches.find(launch_of_call[i]);
    if (launch == launches.end()) continue;
    const NcclRange* range = payloads.around(launch->second.thread, launch->second.start);
    if (range == nullptr) continue;
    RecordedCall& call = recording.calls[i];
    std::optional<std::int64_t> size;
    if (const auto known = payloads.communicator_size.find(*range->communicator);
        known != payloads.communicator_size.end()) {
      size = known->second;
    }
    call.group = group_index(recording, "comm " + std::to_string(*range->communicator), size);
    // A kernel of several sends and receives is launched for all of them: no one size is its.
    if (range->message_bytes && call.op != Operation::send_receive) {
      set_bytes_from_count(call, *range->message_bytes, size);
    }
  }
}

Result<Recording> read_database(sqlite3* database, const std::string& source) {
  Recording recording;
  recording.source = source;
  // A damaged database must not take for ever or fill the memory.
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 16 * 1024 * 1024);
  std::vector<LaunchKey> launch_of_call;
  // Some exports have neither processes nor the launches' numbers.
  Statement query;
  for (const char* columns : {"correlationId, globalPid", "correlationId, 0", "0, 0"}) {
    query = prepare(database, ("SELECT start, end, deviceId, streamId, demangledName, " +
                               std::string(columns) + " FROM CUPTI_ACTIVITY_KIND_KERNEL")
                                  .c_str());
    if (query) break;
  }
  if (!query) {
    return Problem{source,
                   "has no table of GPU kernels (CUPTI_ACTIVITY_KIND_KERNEL) that can be "
                   "read; record with nsys profile --trace=cuda",
                   Trouble::missing};
  }
  const std::int64_t base = session_start_ns(database);
  NamesByNumber names(database);
  SeenKernels seen;
  int state = SQLITE_ROW;
  while ((state = sqlite3_step(query.get())) == SQLITE_ROW) {
    const std::int64_t start = sqlite3_column_int64(query.get(), 0);
    const std::int64_t end = sqlite3_column_int64(query.get(), 1);
    std::int64_t duration = 0, shifted = 0;
    if (__builtin_sub_overflow(end, start, &duration) || duration < 0 ||
        __builtin_add_overflow(start, base, &shifted)) {
      omit(recording, "kernels without a time");
      continue;
    }
    ++recording.records_read;
    const std::uint32_t rank = rank_index(
        recording, source + " device " + std::to_string(sqlite3_column_int(query.get(), 2)));
    const int stream = sqlite3_column_int(query.get(), 3);
    const auto op = seen.op_of(names.name_of(sqlite3_column_int64(query.get(), 4)));
    if (!op) {
      recording.compute.push_back({rank, stream, shifted, duration});
      continue;
    }
    RecordedCall call;
    call.op = *op;
    call.rank = rank;
    call.stream = stream;
    call.start_ns = shifted;
    call.duration = Seconds(static_cast<double>(duration) * 1e-9);
    call.time = TimeKind::kernel;
    recording.calls.push_back(call);
    launch_of_call.emplace_back(sqlite3_column_int64(query.get(), 6),
                                sqlite3_column_int64(query.get(), 5));
  }
  if (state != SQLITE_DONE) omit(recording, "the rest of a damaged database");
  seen.note(recording);
  set_payloads(database, launch_of_call, recording);
  std::int64_t unsized_calls = 0;
  for (const RecordedCall& call : recording.calls) {
    unsized_calls += call.bytes || call.counted_bytes ? 0 : 1;
  }
  leave_unsaid(recording, kCallsWithoutSize, unsized_calls);
  if (recording.records_read == 0) {
    return Problem{source, "has no GPU kernel that could be read", Trouble::missing};
  }
  return recording;
}

}  // namespace

Result<Recording> read_nsight_file(const std::string& path, const BytesRead& told) {
  sqlite3* handle = nullptr;
  const int state = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  const Database database(handle);
  if (state != SQLITE_OK)
    return Problem{path, "cannot be opened as an SQLite database", Trouble::unreadable};
  if (told) {
    constexpr int kInstructions = 100'000;  // of SQLite's machine, some milliseconds
    const auto stop = [](void* of) { return (*static_cast<const BytesRead*>(of))(0) ? 0 : 1; };
    sqlite3_progress_handler(database.get(), kInstructions, stop, const_cast<BytesRead*>(&told));
  }
  return read_database(database.get(), path);
}

Result<Recording> read_nsight_bytes(std::string_view bytes) {
  const std::string name = "database";
  sqlite3* handle = nullptr;
  const int state = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE, nullptr);
  const Database database(handle);
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size() + 1));
  if (state != SQLITE_OK || copy == nullptr)
    return Problem{name, "cannot be held in memory", Trouble::unreadable};
  std::copy(bytes.begin(), bytes.end(), copy);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(database.get(), "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK) {
    return Problem{name, "is no SQLite database that can be read", Trouble::unreadable};
  }
  return read_database(database.get(), name);
}

}  // namespace headway

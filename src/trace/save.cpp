#include "trace/save.hpp"

#include <sqlite3.h>

#include <array>
#include <memory>
#include <optional>

#include "platform/paths.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/io/byte_source.hpp"
#include "trace/io/sqlite.hpp"

namespace headway {
namespace {

// "Hdwy": says that a database is one of ours (file format of SQLite, bytes 68 to 71).
constexpr std::array<char, 4> kApplication = {'H', 'd', 'w', 'y'};

constexpr const char* kTables = R"(
PRAGMA application_id = 0x48647779;
PRAGMA user_version = 1;
CREATE TABLE ranks (id INTEGER PRIMARY KEY, number INTEGER, label TEXT NOT NULL,
  world_size INTEGER, clock_offset_ns INTEGER);
CREATE TABLE groups (id INTEGER PRIMARY KEY, source_id TEXT NOT NULL, name TEXT NOT NULL,
  size INTEGER, ranks TEXT);
CREATE TABLE calls (id INTEGER PRIMARY KEY, rank_id INTEGER NOT NULL REFERENCES ranks,
  group_id INTEGER REFERENCES groups, op TEXT NOT NULL, count REAL NOT NULL, bytes REAL,
  counted_bytes REAL, dtype TEXT, start_ns INTEGER, seconds REAL, time_kind TEXT NOT NULL,
  wire_bytes REAL, stream INTEGER, sequence INTEGER, peer INTEGER, in_place INTEGER,
  done_as TEXT);
CREATE TABLE compute (rank_id INTEGER NOT NULL REFERENCES ranks, stream INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, seconds REAL NOT NULL);
CREATE TABLE matched (collective INTEGER NOT NULL, call_id INTEGER PRIMARY KEY REFERENCES calls,
  transfer_s REAL NOT NULL, waiting_s REAL NOT NULL, last_rank_id INTEGER NOT NULL REFERENCES ranks,
  complete INTEGER NOT NULL, by_order INTEGER NOT NULL);
CREATE TABLE omissions (what TEXT NOT NULL, count INTEGER NOT NULL, lost INTEGER NOT NULL);
CREATE VIEW calls_by_group AS
  SELECT g.name AS group_name, g.size AS group_size, c.op, c.time_kind, sum(c.count) AS count,
    sum(c.count * c.bytes) AS bytes, sum(c.count * c.wire_bytes) AS wire_bytes,
    min(c.bytes) AS smallest_bytes, max(c.bytes) AS largest_bytes,
    sum(c.count * c.seconds) AS seconds,
    CASE WHEN c.time_kind IN ('kernel', 'host', 'benchmark') THEN
      sum(CASE WHEN c.seconds IS NOT NULL THEN c.count * c.wire_bytes END) /
      nullif(sum(CASE WHEN c.wire_bytes IS NOT NULL THEN c.count * c.seconds END), 0) END
      AS busbw_bytes_per_s
  FROM calls c LEFT JOIN groups g ON g.id = c.group_id
  GROUP BY g.name, g.size, c.op, c.time_kind;
CREATE VIEW waiting_by_group AS
  SELECT g.name AS group_name, c.op, count(DISTINCT m.collective) AS collectives,
    sum(m.waiting_s) AS waiting_s, sum(c.seconds) AS kernel_s, max(m.waiting_s) AS longest_wait_s
  FROM matched m JOIN calls c ON c.id = m.call_id LEFT JOIN groups g ON g.id = c.group_id
  GROUP BY g.name, c.op;
CREATE VIEW waiting_by_rank AS
  SELECT r.number AS rank, r.label, count(*) AS matched, sum(m.waiting_s) AS waiting_s,
    sum(m.transfer_s) AS transfer_s, sum(m.last_rank_id = r.id) AS times_last
  FROM matched m JOIN calls c ON c.id = m.call_id JOIN ranks r ON r.id = c.rank_id
  GROUP BY r.id;
CREATE VIEW timeline AS
  SELECT c.id AS call_id, r.number AS rank, r.label, g.name AS group_name, c.op, c.bytes,
    c.start_ns + r.clock_offset_ns AS aligned_start_ns, c.seconds, m.collective, m.waiting_s
  FROM calls c JOIN ranks r ON r.id = c.rank_id LEFT JOIN groups g ON g.id = c.group_id
    LEFT JOIN matched m ON m.call_id = c.id;
)";

// One INSERT, run again and again; remembers whether anything failed.
class Insert {
 public:
  Insert(sqlite3* database, const std::string& table, int columns) {
    std::string sql = "INSERT INTO " + table + " VALUES (?";
    for (int i = 1; i < columns; ++i) sql += ",?";
    statement_ = prepare(database, (sql + ")").c_str());
    ok_ = statement_ != nullptr;
  }

  template <class... Values>
  void row(const Values&... values) {
    if (!ok_) return;
    sqlite3_reset(statement_.get());
    int column = 0;
    (bind(++column, values), ...);
    ok_ = sqlite3_step(statement_.get()) == SQLITE_DONE;
  }
  bool ok() const { return ok_; }

 private:
  void bind(int column, std::int64_t value) { sqlite3_bind_int64(statement_.get(), column, value); }
  void bind(int column, std::uint32_t value) { bind(column, static_cast<std::int64_t>(value)); }
  void bind(int column, int value) { bind(column, static_cast<std::int64_t>(value)); }
  void bind(int column, bool value) { bind(column, static_cast<std::int64_t>(value ? 1 : 0)); }
  void bind(int column, double value) { sqlite3_bind_double(statement_.get(), column, value); }
  void bind(int column, std::string_view text) {
    sqlite3_bind_text(statement_.get(), column, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
  void bind(int column, const std::string& text) { bind(column, std::string_view(text)); }
  template <int T, int B, int F, int J>
  void bind(int column, Quantity<T, B, F, J> quantity) {
    bind(column, quantity.value());
  }
  void bind(int column, ElementType type) { bind(column, to_name(type)); }
  template <class Value>
  void bind(int column, const std::optional<Value>& value) {
    if (value) {
      bind(column, *value);
    } else {
      sqlite3_bind_null(statement_.get(), column);
    }
  }

  Statement statement_;
  bool ok_ = true;
};

std::optional<std::string> list_of(const std::vector<std::int64_t>& ranks) {
  if (ranks.empty()) return std::nullopt;
  std::string out;
  for (const std::int64_t rank : ranks) out += (out.empty() ? "" : ",") + std::to_string(rank);
  return out;
}

bool fill(sqlite3* database, const Recording& recording, const Alignment& alignment) {
  Insert ranks(database, "ranks", 5), groups(database, "groups", 5), calls(database, "calls", 17);
  Insert compute(database, "compute", 4), matched(database, "matched", 7);
  Insert omissions(database, "omissions", 3);
  for (std::uint32_t i = 0; i < recording.ranks.size(); ++i) {
    const RecordedRank& rank = recording.ranks[i];
    ranks.row(i, rank.number, rank.label, rank.world_size, alignment.clock_offset_ns[i]);
  }
  for (std::uint32_t i = 0; i < recording.groups.size(); ++i) {
    const RecordedGroup& group = recording.groups[i];
    groups.row(i, group.id, group_name(recording, i), group.size, list_of(group.ranks));
  }
  std::int64_t id = 0;
  for (const RecordedCall& call : recording.calls) {
    calls.row(id++, call.rank, call.group, to_name(call.op), call.count, call.bytes,
              call.counted_bytes, call.type, call.start_ns, call.duration, to_name(call.time),
              wire_bytes(recording, call), call.stream, call.sequence, call.peer, call.in_place,
              call.done_as ? std::optional(to_name(*call.done_as)) : std::nullopt);
  }
  for (const RecordedCompute& kernel : recording.compute) {
    compute.row(kernel.rank, static_cast<std::int64_t>(kernel.stream), kernel.start_ns,
                static_cast<double>(kernel.duration_ns) * 1e-9);
  }
  std::int64_t collective = 0;
  for (const MatchedCall& one : alignment.matched) {
    for (std::size_t i = 0; i < one.calls.size(); ++i) {
      matched.row(collective, static_cast<std::int64_t>(one.calls[i]), one.transfer, one.waiting[i],
                  one.last_rank, one.complete, one.by_order);
    }
    ++collective;
  }
  for (const Omission& omission : recording.omissions) {
    omissions.row(omission.what, omission.count, omission.lost);
  }
  return ranks.ok() && groups.ok() && calls.ok() && compute.ok() && matched.ok() && omissions.ok();
}

}  // namespace

Problems may_save_to(const std::string& path) {
  if (!exists(path)) return {};
  constexpr std::size_t kHead = 72;
  if (is_ordinary_file(path)) {
    const auto file = open_file(path);
    const std::string begin = file ? read_up_to(**file, kHead) : std::string();
    if (begin.size() == kHead && begin.starts_with("SQLite format 3") &&
        begin.substr(68) == std::string_view(kApplication.data(), kApplication.size())) {
      return {};
    }
  }
  return {{path, "exists and is no database that Headway wrote; name another file or remove it"}};
}

Problems save_recording(const Recording& recording, const Alignment& alignment,
                        const std::string& path) {
  sqlite3* handle = nullptr;
  const int state =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  const Database database(handle);
  const auto run = [&](const char* sql) {
    return sqlite3_exec(database.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  // Nobody else knows the file yet: neither a journal nor a wait for the disk is needed.
  const bool written = state == SQLITE_OK && run("PRAGMA journal_mode = OFF") &&
                       run("PRAGMA synchronous = OFF") && run("BEGIN") && run(kTables) &&
                       fill(database.get(), recording, alignment) && run("COMMIT");
  if (!written) return {{path, "cannot be written", Trouble::unreadable}};
  return {};
}

}  // namespace headway

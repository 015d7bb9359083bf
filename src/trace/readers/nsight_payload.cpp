// NCCL since 2.17 gives NVTX a structure with each range: the communicator, the message's size. The
// export has it as bytes (NVTX_EVENTS.binaryData): four little-endian numbers of 64 bits (domain,
// schema, size of the payload, where it begins), then the payload, whose fields NVTX_PAYLOAD_
// SCHEMA_ENTRIES places. The layout is not in NVIDIA's manual; two programs that read it agree on
// it (found 2026-11). A range that does not look so is passed over.
#include "trace/readers/nsight_payload.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>

#include "trace/io/sqlite.hpp"

namespace headway {
namespace {

// Where the fields of a payload lie, in bytes from its beginning.
struct Places {
  std::optional<std::size_t> communicator, message_size, ranks;
};
using Layouts = std::map<std::pair<std::int64_t, std::int64_t>, Places>;  // by domain and schema

Layouts layouts_in(sqlite3* database) {
  Layouts out;
  const Statement query =
      prepare(database, "SELECT domainId, schemaId, name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES");
  while (next(query)) {
    const std::string_view name = text_at(query.get(), 2);
    const std::int64_t offset = sqlite3_column_int64(query.get(), 3);  // NULL, the first, is 0
    if (offset < 0 || offset > 4096) continue;
    Places& layout =
        out[{sqlite3_column_int64(query.get(), 0), sqlite3_column_int64(query.get(), 1)}];
    const auto at = static_cast<std::size_t>(offset);
    if (name == "NCCL communicator ID") layout.communicator = at;
    if (name == "Message size [bytes]") layout.message_size = at;
    if (name == "No. of ranks") layout.ranks = at;
  }
  return out;
}

template <class Number>
std::optional<Number> number_at(std::string_view bytes, std::optional<std::size_t> offset) {
  if (!offset || *offset + sizeof(Number) > bytes.size()) return std::nullopt;
  Number number{};
  std::memcpy(&number, bytes.data() + *offset, sizeof number);
  return number;
}

}  // namespace

const NcclRange* NcclPayloads::around(std::int64_t thread, std::int64_t at) const {
  const auto ranges = by_thread.find(thread);
  if (ranges == by_thread.end()) return nullptr;
  // NCCL's own ranges are nested two deep (a call in a group): few before `at` need a look.
  auto range = std::upper_bound(
      ranges->second.begin(), ranges->second.end(), at,
      [](std::int64_t moment, const NcclRange& candidate) { return moment < candidate.start; });
  for (int looked = 0; range != ranges->second.begin() && looked < 4; ++looked) {
    --range;
    if (at <= range->end) return &*range;
  }
  return nullptr;
}

NcclPayloads read_nccl_payloads(sqlite3* database) {
  NcclPayloads out;
  const Layouts layouts = layouts_in(database);
  if (layouts.empty()) return out;
  const Statement query = prepare(
      database,
      "SELECT start, end, globalTid, binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL");
  while (next(query)) {
    const auto* blob = static_cast<const char*>(sqlite3_column_blob(query.get(), 3));
    const std::string_view bytes(
        blob == nullptr ? "" : blob,
        blob == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(query.get(), 3)));
    constexpr std::size_t kHeader = 32;
    if (bytes.size() < kHeader) continue;
    const auto layout =
        layouts.find({*number_at<std::int64_t>(bytes, 0), *number_at<std::int64_t>(bytes, 8)});
    if (layout == layouts.end()) continue;
    const std::string_view payload = bytes.substr(kHeader);
    NcclRange range;
    range.start = sqlite3_column_int64(query.get(), 0);
    range.end = sqlite3_column_int64(query.get(), 1);
    range.communicator = number_at<std::uint64_t>(payload, layout->second.communicator);
    if (const auto size = number_at<std::uint64_t>(payload, layout->second.message_size)) {
      range.message_bytes = static_cast<double>(*size);
    }
    const auto ranks = number_at<std::uint32_t>(payload, layout->second.ranks);
    if (range.communicator && ranks && *ranks > 0) {
      out.communicator_size[*range.communicator] = *ranks;
    }
    if (range.communicator) {
      out.by_thread[sqlite3_column_int64(query.get(), 2)].push_back(range);
    }
  }
  for (auto& [thread, ranges] : out.by_thread) {
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const NcclRange& a, const NcclRange& b) { return a.start < b.start; });
  }
  return out;
}

std::map<LaunchKey, NsightLaunch> read_launches(sqlite3* database,
                                                const std::vector<LaunchKey>& wanted) {
  std::map<LaunchKey, NsightLaunch> out;
  const std::set<LaunchKey> keys(wanted.begin(), wanted.end());
  const bool processes =
      std::any_of(keys.begin(), keys.end(), [](const LaunchKey& key) { return key.first != 0; });
  const Statement query =
      prepare(database, "SELECT correlationId, globalTid, start FROM CUPTI_ACTIVITY_KIND_RUNTIME");
  while (next(query)) {
    const std::int64_t thread = sqlite3_column_int64(query.get(), 1);
    constexpr std::int64_t kThreads = 0x1000000;  // the lower 24 bits of globalTid
    const std::int64_t process = processes ? thread / kThreads * kThreads : 0;
    const LaunchKey key = {process, sqlite3_column_int64(query.get(), 0)};
    if (keys.contains(key)) out[key] = {thread, sqlite3_column_int64(query.get(), 2)};
  }
  return out;
}

}  // namespace headway

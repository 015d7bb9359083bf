#include "trace/call_table.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <tuple>

namespace headway {
namespace {

constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();

bool can_mean_transfer(TimeKind kind) {
  return kind == TimeKind::kernel || kind == TimeKind::host || kind == TimeKind::benchmark;
}

// [TRACE-1] The factor of a call; nothing where it depends on ranks that are not known.
std::optional<double> factor_of(Operation op, std::optional<std::int64_t> ranks) {
  if (op == Operation::barrier || op == Operation::other) return std::nullopt;
  if (ranks) return bus_factor(op, static_cast<double>(*ranks));
  // Where the factor is 1 for two ranks and for three, it is 1 for any number of them.
  if (bus_factor(op, 2) == 1 && bus_factor(op, 3) == 1) return 1;
  return std::nullopt;
}

std::string number(double value, const char* format) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::optional<BytesPerSecond> bus_bandwidth(const Recording& recording, const RecordedCall& call) {
  const auto factor = factor_of(call.op, group_size(recording, call));
  if (!factor || !call.bytes || !call.duration || !can_mean_transfer(call.time) ||
      !(call.duration->value() > 0)) {
    return std::nullopt;
  }
  return *factor * *call.bytes / *call.duration;
}

std::vector<CallTableRow> call_table(const Recording& recording) {
  std::map<std::tuple<std::uint32_t, Operation, TimeKind>, CallTableRow> rows;
  struct Rate {
    Bytes bytes;
    Seconds time;
  };
  std::map<const CallTableRow*, Rate> rates;
  for (const RecordedCall& call : recording.calls) {
    CallTableRow& row = rows[{call.group.value_or(kNoGroup), call.op, call.time}];
    row.group = call.group;
    row.op = call.op;
    row.time_kind = call.time;
    row.ranks = group_size(recording, call);
    row.count += call.count;
    const auto factor = factor_of(call.op, row.ranks);
    if (call.bytes) {
      row.smallest = row.sized == 0 ? *call.bytes : std::min(row.smallest, *call.bytes);
      row.largest = std::max(row.largest, *call.bytes);
      row.sized += call.count;
      row.bytes += call.count * *call.bytes;
      if (factor) {
        row.wire_bytes = row.wire_bytes.value_or(Bytes()) + call.count * *factor * *call.bytes;
      }
    }
    if (call.duration) {
      row.shortest = row.timed == 0 ? *call.duration : std::min(row.shortest, *call.duration);
      row.timed += call.count;
      row.time += call.count * *call.duration;
    }
    if (call.bytes && call.duration && factor && can_mean_transfer(call.time)) {
      Rate& rate = rates[&row];
      rate.bytes += call.count * *factor * *call.bytes;
      rate.time += call.count * *call.duration;
    }
  }
  std::vector<CallTableRow> out;
  for (auto& [key, row] : rows) {
    const auto rate = rates.find(&row);
    if (rate != rates.end() && rate->second.time.value() > 0) {
      row.bus_bandwidth = rate->second.bytes / rate->second.time;
    }
    out.push_back(row);
  }
  return out;
}

std::string group_name(const Recording& recording, std::optional<std::uint32_t> group) {
  if (!group) return "-";
  const RecordedGroup& found = recording.groups[*group];
  return found.description.empty() ? found.id : found.description;
}

std::vector<std::vector<std::string>> to_cells(const std::vector<CallTableRow>& rows,
                                               const Recording& recording) {
  std::vector<std::vector<std::string>> cells = {{"group", "operation", "time is", "ranks", "calls",
                                                  "bytes", "mean bytes", "seconds", "shortest us",
                                                  "busbw GB/s"}};
  for (const CallTableRow& row : rows) {
    const bool sized = row.sized > 0, timed = row.timed > 0;
    cells.push_back({group_name(recording, row.group), std::string(to_name(row.op)),
                     std::string(to_name(row.time_kind)),
                     row.ranks ? std::to_string(*row.ranks) : "-", number(row.count, "%.0f"),
                     sized ? number(row.bytes.value(), "%.0f") : "-",
                     sized ? number(row.bytes.value() / row.sized, "%.0f") : "-",
                     timed ? number(row.time.value(), "%.6f") : "-",
                     timed ? number(row.shortest.value() * 1e6, "%.1f") : "-",
                     row.bus_bandwidth ? number(row.bus_bandwidth->value() / 1e9, "%.2f") : "-"});
  }
  return cells;
}

}  // namespace headway

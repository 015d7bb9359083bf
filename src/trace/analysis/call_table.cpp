#include "trace/analysis/call_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace headway {
namespace {

// [TRACE-1] The factor of a call; nothing where it depends on ranks that are not known.
std::optional<double> factor_of(Operation op, std::optional<std::int64_t> ranks) {
  if (op == Operation::barrier || op == Operation::other) return std::nullopt;
  if (ranks) return bus_factor(op, static_cast<double>(*ranks));
  // Where the factor is 1 for two ranks and for three, it is 1 for any number of them.
  if (bus_factor(op, 2) == 1 && bus_factor(op, 3) == 1) return 1;
  return std::nullopt;
}

}  // namespace

std::optional<Bytes> wire_bytes(const Recording& recording, const RecordedCall& call) {
  const auto factor = factor_of(done_op(call), group_size(recording, call));
  if (!factor || !call.bytes) return std::nullopt;
  return *factor * *call.bytes;
}

std::optional<BytesPerSecond> bus_bandwidth(const Recording& recording, const RecordedCall& call) {
  const auto bytes = wire_bytes(recording, call);
  if (!bytes || !call.duration || !can_mean_transfer(call.time) || !(call.duration->value() > 0)) {
    return std::nullopt;
  }
  return *bytes / *call.duration;
}

std::vector<std::uint32_t> alike_groups(const Recording& recording) {
  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> first;
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < recording.groups.size(); ++i) {
    const std::int64_t size = recording.groups[i].size.value_or(-1);
    out.push_back(first.emplace(std::pair(group_name(recording, i), size), i).first->second);
  }
  return out;
}

std::vector<CallTableRow> call_table(const Recording& recording,
                                     const std::vector<std::uint32_t>& as) {
  std::map<std::tuple<std::uint32_t, Operation, Operation, TimeKind>, CallTableRow> rows;
  struct Rate {
    Bytes bytes;
    Seconds time;
  };
  std::map<const CallTableRow*, Rate> rates;
  std::map<const CallTableRow*, std::vector<bool>> callers;
  for (const RecordedCall& call : recording.calls) {
    const auto group = call.group && !as.empty() ? std::optional(as[*call.group]) : call.group;
    CallTableRow& row = rows[{group.value_or(kNoGroup), call.op, done_op(call), call.time}];
    row.group = group;
    std::vector<bool>& called = callers[&row];
    called.resize(recording.ranks.size());
    row.callers += called[call.rank] ? 0 : 1;
    called[call.rank] = true;
    row.op = call.op;
    row.done_as = call.done_as;
    row.time_kind = call.time;
    row.ranks = group_size(recording, call);
    row.count += call.count;
    const auto factor = factor_of(done_op(call), row.ranks);
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
  if (!found.description.empty()) return found.description;
  if (!found.id.starts_with("comm ")) return found.id;
  return found.size ? "comm of " + std::to_string(*found.size) : "comm";
}

}  // namespace headway

#include "trace/readers/nccl/tests_table.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// busbw over algbw of the row that says it best, and by how much the two decimals may miss it.
struct BusRatio {
  double value, uncertainty;
};

std::optional<BusRatio> bus_ratio(const NcclTestsTable& table) {
  double best = 0, ratio = 0;
  for (const NcclTestsRow& row : table.rows) {
    for (const NcclTestsTime& time : {row.out_of_place, row.in_place}) {
      if (time.algorithm_bandwidth > best && time.bus_bandwidth > 0) {
        best = time.algorithm_bandwidth;
        ratio = time.bus_bandwidth / time.algorithm_bandwidth;
      }
    }
  }
  if (best <= 0) return std::nullopt;
  return BusRatio{ratio, 0.005 / best * (1 + ratio)};
}

// Whether busbw over algbw is that of another operation [TRACE-1].
bool is_refuted(Operation op, const NcclTestsTable& table) {
  const auto ratio = bus_ratio(table);
  if (!table.ranks || *table.ranks < 2 || !ratio || op == Operation::other) return false;
  const double expected = bus_factor(op, static_cast<double>(*table.ranks));
  return std::abs(ratio->value - expected) > 2 * ratio->uncertainty + 1e-3;
}

// The operation by what its program prints: which columns hold something, and whether the elements
// (count x width) are the whole size or one rank's part of it.
std::optional<Operation> op_by_columns(const NcclTestsTable& table) {
  const auto row = std::max_element(table.rows.begin(), table.rows.end(),
                                    [](const auto& a, const auto& b) { return a.size < b.size; });
  if (row == table.rows.end() || !row->type || row->size <= 0) return std::nullopt;
  const bool whole = row->elements * bytes_per_element(*row->type) == row->size;
  if (row->rooted) {
    if (!whole) return std::nullopt;  // gather or scatter
    return row->reduces ? Operation::reduce : Operation::broadcast;
  }
  if (row->reduces && !whole) return Operation::reduce_scatter;
  if (row->reduces) {
    // sendrecv_perf fills the column of the reduction, too; what differs is busbw.
    const bool exchanges =
        is_refuted(Operation::all_reduce, table) && !is_refuted(Operation::send_receive, table);
    return exchanges ? Operation::send_receive : Operation::all_reduce;
  }
  if (whole) return Operation::send_receive;
  if (table.empty_reduction_column) return Operation::all_to_all;
  // All-to-all does not check its results in place; all-gather does.
  if (row->out_of_place.checked && !row->in_place.checked) return Operation::all_to_all;
  const bool old_layout = !row->out_of_place.checked && !row->in_place.checked;
  if (row->in_place.checked || old_layout) return Operation::all_gather;
  return std::nullopt;
}

std::optional<Operation> op_of(const NcclTestsTable& table, Recording& recording) {
  if (table.op) return table.op;
  if (table.hint && !is_refuted(*table.hint, table)) return table.hint;
  const auto op = op_by_columns(table);
  if (op == Operation::all_reduce && table.ranks == 2) {
    leave_unsaid(recording,
                 "tables of two ranks, of an all-reduce or of send/receive: read as all-reduces");
  }
  return op;
}

// n from busbw/algbw = 2(n-1)/n or (n-1)/n, where two decimals determine it.
std::optional<std::int64_t> ranks_of(const NcclTestsTable& table, Operation op) {
  if (table.ranks) return table.ranks;
  const double steps = op == Operation::all_reduce ? 2 : 1;
  if (bus_factor(op, 2) == 1 && op != Operation::all_reduce) return std::nullopt;
  const auto ratio = bus_ratio(table);
  if (!ratio || ratio->value >= steps) return std::nullopt;
  const double ranks = steps / (steps - ratio->value);
  const double uncertainty = ranks * ranks / steps * ratio->uncertainty;
  if (uncertainty > 0.3 || ranks < 1.5 || ranks > 1e6) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(ranks));
}

bool is_name(char c) {
  return c == '_' || (c >= 'a' && c <= 'z');
}

}  // namespace

std::optional<Operation> operation_of_program(std::string_view text) {
  constexpr std::string_view kEnding = "_perf";
  std::optional<Operation> found;
  for (std::size_t end = text.find(kEnding); end != std::string_view::npos;
       end = text.find(kEnding, end + 1)) {
    std::string_view behind = text.substr(end + kEnding.size());
    if (behind.starts_with("_mpi")) behind.remove_prefix(4);
    if (!behind.empty() && (is_name(behind.front()) || behind.front() == '/'))
      continue;  // a folder
    std::size_t begin = end;
    while (begin > 0 && is_name(text[begin - 1])) --begin;
    const std::string_view name = text.substr(begin, end - begin);
    const auto op = name == "hypercube" ? Operation::other : operation_from(name);
    if (op && found && *op != *found) return std::nullopt;
    if (op) found = op;
  }
  return found;
}

void add_table(const NcclTestsTable& table, Recording& recording) {
  if (table.rows.empty()) return;
  if (table.unconnected) {
    return leave_unsaid(
        recording,
        "tables of processes that were not connected, each alone with rank 0 (was it "
        "built with MPI=1?): no measurement");
  }
  if (table.elided) {
    leave_unsaid(
        recording,
        "tables whose list of ranks has gaps: ranks by the highest number, hosts not known");
  }
  const auto op = op_of(table, recording);
  if (!op) leave_unsaid(recording, "tables whose operation is not said", 1);
  const auto ranks = ranks_of(table, op.value_or(Operation::other));
  if (!ranks) leave_unsaid(recording, "tables whose number of ranks is not said", 1);
  const std::uint32_t rank = rank_index(recording, "all ranks");
  const std::uint32_t group = group_index(
      recording, ranks ? "all " + std::to_string(*ranks) + " ranks" : "all ranks", ranks);
  if (!recording.groups[group].nodes) recording.groups[group].nodes = table.nodes;
  for (const NcclTestsRow& row : table.rows) {
    for (const bool in_place : {false, true}) {
      const NcclTestsTime& time = in_place ? row.in_place : row.out_of_place;
      if (time.time_us < 0) continue;
      RecordedCall call;
      call.op = op.value_or(Operation::other);
      call.rank = rank;
      call.group = group;
      call.bytes = Bytes(row.size);
      call.type = row.type;
      call.duration = Seconds(time.time_us * 1e-6);
      call.time = TimeKind::benchmark;
      call.in_place = in_place;
      recording.calls.push_back(call);
    }
  }
}

}  // namespace headway

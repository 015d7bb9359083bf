// The communication operations that traces and logs name, and their names in every dialect.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "step/program/collectives.hpp"

namespace headway {

/// What a trace can say was called: the operations of a step's calls (CollectiveOp), and more.
enum class Operation : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive,  // a kernel of sends and receives whose direction the source does not say
  send,
  receive,
  reduce,
  gather,
  scatter,
  barrier,
  other,
};

/// Which of a call's buffers holds the whole tensor that Call::bytes counts.
enum class Whole : std::uint8_t { input, output, larger };

struct OperationRow {
  Operation op;
  std::string_view name;
  std::optional<CollectiveOp> collective;  // the same among a step's calls
  Wire wire = Wire::whole;
  /// A source that counts elements counts those of one rank's part.
  bool counts_part = false;
  Whole whole = Whole::input;
};

/// The row of an operation that a step has, too.
constexpr OperationRow as_called(Operation op, CollectiveOp called, bool counts_part = false,
                                 Whole whole = Whole::input) {
  return {op, to_name(called), called, row_of(called).wire, counts_part, whole};
}

/// The table of operations: the collectives of a step, and what else a trace can say.
constexpr std::array<OperationRow, 13> kOperations = {{
    as_called(Operation::all_reduce, CollectiveOp::all_reduce),
    as_called(Operation::all_gather, CollectiveOp::all_gather, true, Whole::output),
    as_called(Operation::reduce_scatter, CollectiveOp::reduce_scatter, true),
    as_called(Operation::all_to_all, CollectiveOp::all_to_all, true),
    as_called(Operation::broadcast, CollectiveOp::broadcast, false, Whole::larger),
    as_called(Operation::send_receive, CollectiveOp::send_receive),
    {Operation::send, "send", CollectiveOp::send_receive},
    {Operation::receive, "receive", CollectiveOp::send_receive, Wire::whole, false, Whole::output},
    {Operation::reduce, "reduce", {}},
    {Operation::gather, "gather", {}, Wire::others, true, Whole::output},
    {Operation::scatter, "scatter", {}, Wire::others, true},
    {Operation::barrier, "barrier", {}},
    {Operation::other, "other", {}},
}};

constexpr const OperationRow& row_of(Operation op) {
  return kOperations[static_cast<std::size_t>(op)];
}
constexpr std::string_view to_name(Operation op) {
  return row_of(op).name;
}
/// The same operation among a step's calls; nothing where a step has none like it.
constexpr std::optional<CollectiveOp> to_collective(Operation op) {
  return row_of(op).collective;
}
/// A call of a step as a trace names it.
constexpr Operation traced_as(CollectiveOp op) {
  for (const OperationRow& row : kOperations) {
    if (row.collective == op) return row.op;
  }
  return Operation::other;
}

/// Bytes on the wire of each rank per byte of the call, which turns the algorithm's bandwidth into
/// busbw, as in nccl-tests [TRACE-1].
constexpr double bus_factor(Operation op, double ranks) {
  return wire_factor(row_of(op).wire, ranks);
}

constexpr bool operations_stand_in_order() {
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    if (kOperations[i].op != static_cast<Operation>(i)) return false;
  }
  return true;
}
static_assert(operations_stand_in_order());

/// The operation that a name stands for, in any dialect: "allreduce", "AllReduce",
/// "_allgather_base", "nccl:all_reduce", "c10d::alltoall_base_", "reduce_scatter_tensor",
/// "ALL_TO_ALL", "nccl:send 1->2". Nothing for a name that stands for none ("wait", "init").
std::optional<Operation> operation_from(std::string_view name);

}  // namespace headway

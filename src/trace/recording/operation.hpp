// The communication operations that traces and logs name, and their names in every dialect.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "step/call.hpp"

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
constexpr std::array<std::string_view, 13> kOperationNames = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive", "send",
    "receive",    "reduce",     "gather",         "scatter",    "barrier",   "other"};
constexpr std::string_view to_name(Operation op) {
  return kOperationNames[static_cast<std::size_t>(op)];
}

/// The same operation among a step's calls; nothing where a step has none like it.
std::optional<CollectiveOp> to_collective(Operation op);

/// The operation that a name stands for, in any dialect: "allreduce", "AllReduce",
/// "_allgather_base", "nccl:all_reduce", "c10d::alltoall_base_", "reduce_scatter_tensor",
/// "ALL_TO_ALL", "nccl:send 1->2". Nothing for a name that stands for none ("wait", "init").
std::optional<Operation> operation_from(std::string_view name);

/// The operation of a GPU kernel by its name; nothing where the kernel does not communicate.
/// Generic kernels ("ncclDevKernel_Generic") are `other`: the name does not tell.
std::optional<Operation> operation_of_kernel(std::string_view kernel);

/// Bytes on the wire of each rank per byte of the call, which turns the algorithm's bandwidth into
/// busbw, as in nccl-tests [TRACE-1].
double bus_factor(Operation op, double ranks);

}  // namespace headway

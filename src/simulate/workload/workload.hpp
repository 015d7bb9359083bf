// A simulated step as graphs: what a rank of each stage runs and calls, and what each of that waits
// for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/step/simulated.hpp"

namespace headway {

struct WorkloadNode {
  static constexpr std::uint8_t kNoStream = 255;
  enum class Kind : std::uint8_t { compute, host, collective, send, receive };
  Kind kind = Kind::compute;
  std::uint32_t name = 0;                      // among the workload's names
  std::int64_t start_us = 0, duration_us = 0;  // as simulated
  Seconds time = Seconds(0);                   // the same, not in whole microseconds
  std::uint8_t stream = 0;                     // nodes of one follow each other, but of kNoStream
  std::uint32_t behind = 0;               // the one before it on its stream, from 1 on; 0: none
  std::vector<std::uint32_t> needs = {};  // others, from 1 on
  CollectiveOp op = CollectiveOp::all_reduce;  // of a collective
  Group group = Group::world;                  // of a call; of transfers between stages pp
  Bytes bytes = {};                            // as Call::bytes has them
  Precision dtype = Precision::bf16;           // of a call
  TaskProduct product = {};                    // that computation is; batch 0: none
  std::int64_t peer = 0;          // of transfers between stages the other's stage; else
                                  // the distance to the other within the group
  std::uint32_t tag = 0;          // the same at both ends
  std::int64_t micro_batch = -1;  // whose slot it is in; -1: in none
  bool beyond = false;            // as StreamTask::beyond
  /// [SIM-7] Weights of the first slot, gathered before it, or gradients of the last, reduced
  /// behind it: calls that stand once more among those that are beyond a slot.
  bool edge = false;
  Seconds start = Seconds(0);  // as start_us
};

struct Workload {
  std::vector<std::vector<WorkloadNode>> stages;  // of each in an order in which they may run
  std::vector<std::string> names;                 // each once
};

/// [SIM-40] Kernels, what the host does and calls as nodes in whole microseconds, in the times in
/// which they were placed. A node waits for the one before it on its stream, and for what the task
/// waits for; what takes no time is none. Transfers are a send and a receive that waits for nothing
/// else. What all ranks have once a step is the last node of each.
Workload workload_of(const SimulatedStep& step);

}  // namespace headway

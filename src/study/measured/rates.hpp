// The busbw that was measured, and what the cost model expects.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/cluster.hpp"
#include "study/measured/measured.hpp"

namespace headway {

struct MeasuredRate {
  Operation op = Operation::other;
  double ranks = 0;     // 0: not known
  Bytes bytes;          // of the message
  BytesPerSecond rate;  // busbw as in nccl-tests
};

/// Of matched kernels the transfer's rate, which holds no waiting; else that of each call.
std::vector<MeasuredRate> rates_of(const Measured& measured);

/// The busbw of messages of each size that the cost model expects where `ranks` accelerators of the
/// cluster, side by side, make the call; empty where the operation has no model, or the cluster no
/// constants.
std::vector<BytesPerSecond> modelled_rates(Operation op, std::int64_t ranks,
                                           std::span<const Bytes> sizes, const Cluster& cluster);

}  // namespace headway

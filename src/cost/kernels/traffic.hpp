// Bytes that kernels read and write in the accelerator's memory, each once, and how many at least.
#pragma once

#include "layout/job.hpp"
#include "step/program/op.hpp"

namespace headway {

/// A, B and C of a product once; `result_bytes` as of matmul_time.
Bytes traffic_of(const Matmul& shape, Precision precision, double result_bytes = 0);

/// [KERNEL-9] What a product of operands of so many bytes an element reads and writes at least
/// where a cache of `cache` holds what is used again; none where its size is not known.
Bytes least_traffic_of(const Matmul& shape, double element, Bytes cache);

/// Q, K, V and O once, with a backward pass's gradients; what passes over scores move where they
/// go through memory.
Bytes traffic_of(const AttentionShape& shape, AttentionKernel kernel, Precision precision,
                 bool backward);

/// Of any op; of a pass what it moves.
Bytes traffic_of(const Op& op, AttentionKernel kernel);

}  // namespace headway

#include "cost/kernels.hpp"

namespace headway {

// [KERNEL-4] t = t0 + bytes / (bandwidth · memory efficiency). t0: shortest_kernel. Validity:
// passes over more than the cache; smaller ones run up to 2-3 times faster than this where their
// data are still in the cache.
Seconds pass_time(Bytes moved, const Accelerator& accelerator, const KernelParameters& parameters) {
  if (moved <= Bytes(0)) return Seconds(0);
  return parameters.shortest_kernel +
         moved / (accelerator.memory_bandwidth * parameters.memory_efficiency);
}

}  // namespace headway

#include "cost/kernels/kernels.hpp"

namespace headway {

// [KERNEL-4] t = t0 + bytes / (bandwidth · memory efficiency). t0: shortest_kernel. Validity:
// passes over more than the cache; smaller ones run up to 2-3 times faster than this where their
// data are still in the cache. eager: the memory efficiency times eager_efficiency.
Seconds pass_time(Bytes moved, const Accelerator& accelerator, const KernelParameters& parameters,
                  bool eager) {
  if (moved <= Bytes(0)) return Seconds(0);
  const double efficiency =
      parameters.memory_efficiency * (eager ? parameters.eager_efficiency : 1.0);
  return parameters.shortest_kernel + moved / (accelerator.memory_bandwidth * efficiency);
}

}  // namespace headway

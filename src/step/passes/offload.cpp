// What waits in the host's memory.
#include "step/passes/passes.hpp"
#include "step/passes/update.hpp"

namespace headway {

void offload(Block& block, const Share& share, const Layout& layout) {
  if (layout.offload_activations) block.host_transfer += block.saved;
  if (layout.offload_parameters) {
    block.host_transfer +=
        (block.held.dense + block.held.experts) / states_ranks(layout) * gathered_bytes(share.job);
  }
}

}  // namespace headway

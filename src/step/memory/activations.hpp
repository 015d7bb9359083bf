// What micro-batches hold on a rank, apart [STEP-9]: for who places them in time.
#pragma once

#include <vector>

#include "step/program/program.hpp"

namespace headway {

struct ActivationsOfRank {
  Bytes kept{};     // of one micro-batch, in all chunks of the rank, until its gradients
  Bytes at_work{};  // besides, while a slot runs: the widest block
};
/// Offloaded ones are all at work. held_activations() is these with as many as are in flight.
ActivationsOfRank activations_of(const std::vector<Block>& blocks, const StageClass& stage,
                                 const Layout& layout);

}  // namespace headway

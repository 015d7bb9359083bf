// Seconds of the exchange of experts' tokens by kernels of its own (DeepEP). Formulas:
// docs/models/infer.md [INFER-33].
#pragma once

#include "base/quantity.hpp"
#include "cost/serving/serving.hpp"

namespace headway {

/// What the ranks that share experts send each other in one direction: tokens to the experts that
/// the router chose, spread evenly (8 bits, a scale of 4 bytes to 128 values), or what these made
/// of them back (16 bits).
struct ExpertExchange {
  bool combine = false;  // else dispatch
  bool quick = false;  // the kernels of few tokens: a copy for each expert, written at once; else a
                       // copy for each rank that holds some, and one for each other node
  std::int64_t tokens = 0;  // of a rank
  std::int64_t hidden = 0;
  std::int64_t active = 1;         // experts of a token
  std::int64_t ranks = 1;          // that share the experts
  std::int64_t ranks_of_node = 1;  // of them, that reach each other's memory
  std::int64_t units = 20;         // compute units that copy; of the quick kernels all
  BytesPerSecond bandwidth;        // of an accelerator to its peers
  BytesPerSecond network;          // and to other nodes
  double slowed = 1;               // times what it begins with (Level)
};

/// Bytes that leave a rank: to peers, and to other nodes.
Bytes sent_to_peers(const ExpertExchange& exchange);
Bytes sent_to_nodes(const ExpertExchange& exchange);

/// [INFER-33] The longest of the copies by the units, the links to peers and the network, behind a
/// start.
Seconds expert_exchange_time(const ExpertExchange& exchange, const ServingKernels& kernels);

}  // namespace headway

// Which layouts each framework offers: the table [plan] of its file in data/frameworks, so that no
// condition on a framework's name stands in the search.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "cluster/cluster.hpp"
#include "layout/job.hpp"
#include "layout/layout.hpp"

namespace headway {

using Order = std::array<Dimension, 4>;

/// What the user may choose of the overlap of data-parallel calls: nothing; gradients alone; both,
/// parameters only with gradients.
enum class OverlapOffer : std::uint8_t { nothing, gradients, both };

/// With what activations may be offloaded: inputs of layers that are computed again.
enum class ActivationOffload : std::uint8_t { never, with_recompute };

struct Offers {
  std::vector<Order> orders;               // of the ranks, the usual one first
  std::vector<ContextExchange> exchanges;  // none: no context parallelism
  std::vector<Schedule> schedules;         // the usual one first
  bool virtual_stages = false;
  bool split_norms_optional = false;  // tensor parallelism with and without sequence parallelism
  bool experts_need_split_norms = false;
  bool overlap_tensor = false;     // tensor-parallel calls under split products, with sequence
                                   // parallelism
  bool any_expert_tensor = false;  // etp: every divisor of tp; else 1 and, where
                                   // `whole_expert_tensor`, tp
  bool whole_expert_tensor = false;
  // Of accelerators for which its dispatcher that sends tokens once is made [STEP-6].
  std::vector<std::string> once_architectures;
  // Exchange of tokens under other work: with virtual stages where there is a pipeline, and without
  // full recomputation.
  bool overlap_experts = false;
  bool selective = false;                 // recomputation of the attention core
  std::int64_t most_recompute_every = 1;  // full recomputation of so many layers at once
  std::array<bool, 4> zero{};             // stages
  bool unsharded_alone = false;           // ZeRO 0 only beside data parallelism alone
  std::array<bool, kPrecisions> sharded_precisions{};  // of activations: their optimiser shards its
                                                       // states at every stage, so no ZeRO 0
  bool sharded_with_virtual_stages = false;  // gradients or weights sharded beside virtual stages
  std::array<bool, 4> hybrid{};              // at these stages states may be shared by some ranks
  bool keeps_gathered = false;               // ZeRO-3 without resharding after the forward pass
  OverlapOffer overlap = OverlapOffer::nothing;
  std::array<bool, 4> offloads_optimizer{};  // at these ZeRO stages
  bool offloads_parameters = false;          // at ZeRO 3
  bool offloads_together = false;            // optimiser and parameters only together
  ActivationOffload offloads_activations = ActivationOffload::never;
};

/// What the table [plan] of a framework's file says.
Result<Offers> read_offers(const Document& document);

const Offers& offers(Framework framework);

}  // namespace headway

// Which layouts each framework offers: one row for each, so that no condition on a framework's name
// stands in the search.
#pragma once

#include <array>
#include <cstdint>
#include <span>

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
  std::span<const Order> orders;               // of the ranks, the usual one first
  std::span<const ContextExchange> exchanges;  // none: no context parallelism
  std::span<const Schedule> schedules;         // the usual one first
  bool virtual_stages;
  bool split_norms_optional;  // tensor parallelism with and without sequence parallelism
  bool experts_need_split_norms;
  bool overlap_tensor;     // tensor-parallel calls under split products, with sequence parallelism
  bool any_expert_tensor;  // etp: every divisor of tp; else 1 and, where `whole_expert_tensor`, tp
  bool whole_expert_tensor;
  bool selective;                     // recomputation of the attention core
  std::int64_t most_recompute_every;  // full recomputation of so many layers at once
  std::array<bool, 4> zero;           // stages
  bool unsharded_alone;               // ZeRO 0 only beside data parallelism alone
  bool sharded_with_virtual_stages;   // gradients or weights sharded beside virtual stages
  bool keeps_gathered;                // ZeRO-3 without resharding after the forward pass
  OverlapOffer overlap;
  std::array<bool, 4> offloads_optimizer;  // at these ZeRO stages
  bool offloads_parameters;                // at ZeRO 3
  bool offloads_together;                  // optimiser and parameters only together
  ActivationOffload offloads_activations;
};

const Offers& offers(Framework framework);

}  // namespace headway

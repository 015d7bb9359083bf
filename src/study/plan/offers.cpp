#include "study/plan/offers.hpp"

namespace headway {
namespace {

constexpr Order kUsual = {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp};
constexpr Order kPipelineInside = {Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp};
constexpr std::array<Order, 1> kUsualOnly = {kUsual};
constexpr std::array kMegatronOrders = {kUsual, kPipelineInside};

constexpr std::array kRing = {ContextExchange::ring};
constexpr std::array kAllToAll = {ContextExchange::all_to_all};
constexpr std::array kBothExchanges = {ContextExchange::ring, ContextExchange::all_to_all};

constexpr std::array kPlain = {Schedule::one_f_one_b};
constexpr std::array kPlainAndGpipe = {Schedule::one_f_one_b, Schedule::gpipe};
constexpr std::array kTorch = {Schedule::one_f_one_b, Schedule::gpipe, Schedule::zero_bubble_v};

// Sources; the same versions as those whose configurations are written (docs/launch.md):
//   megatron   Megatron-LM core 0.15, megatron/training/arguments.py: --use-tp-pp-dp-mapping,
//              --cp-comm-type, --num-virtual-stages-per-pipeline-rank, --sequence-parallel (needed
//              by experts beside tensor parallelism), --tp-comm-overlap (needs sequence
//              parallelism), --recompute-granularity and --recompute-num-layers,
//              --use-distributed-optimizer, --use-megatron-fsdp (no virtual stages),
//              --overlap-grad-reduce, --overlap-param-gather (needs the former),
//              --optimizer-cpu-offload (needs the distributed optimiser),
//              Not offered: --cpu-offloading-num-layers, which leaves at least one layer out, and
//              --overlap-moe-expert-parallel-comm, which needs virtual stages beside a pipeline and
//              no full recomputation.
//   fsdp       torchtitan 0.2, torchtitan/config/job_config.py: parallelism (schedules 1F1B,
//              GPipe, Interleaved1F1B, ZBVZeroBubble; fsdp_reshard_after_forward,
//              enable_async_tensor_parallel, expert_tensor_parallel_degree 1 or tp),
//              activation_checkpoint (none, full), training.enable_cpu_offload (optimiser and
//              parameters). FSDP overlaps of itself.
//   deepspeed  0.17, runtime/config.py and runtime/zero/config.py: overlap_comm, offload_optimizer
//              and offload_param; activation checkpointing with cpu_checkpointing; sequence
//              parallelism of Ulysses.
//   nanotron   0.4, config/parallelism_config.py: pp_engine 1f1b or afab, tp_mode, zero_stage 0
//              or 1, recompute_layer.
//   jax        MaxText, configs/base.yml: fsdp, tensor, context (all-gather of keys: as a ring) and
//              pipeline axes; remat_policy none or full.
constexpr std::array<Offers, kFrameworkNames.size()> kOffers = {{
    {.orders = kMegatronOrders,
     .exchanges = kBothExchanges,
     .schedules = kPlain,
     .virtual_stages = true,
     .split_norms_optional = true,
     .experts_need_split_norms = true,
     .overlap_tensor = true,
     .any_expert_tensor = true,
     .whole_expert_tensor = true,
     .selective = true,
     .most_recompute_every = 8,
     .zero = {true, true, true, true},
     .unsharded_alone = false,
     .sharded_with_virtual_stages = false,
     .keeps_gathered = false,
     .overlap = OverlapOffer::both,
     .offloads_optimizer = {false, true, false, false},
     .offloads_parameters = false,
     .offloads_together = false,
     .offloads_activations = ActivationOffload::never},
    {.orders = kUsualOnly,
     .exchanges = kRing,
     .schedules = kTorch,
     .virtual_stages = true,
     .split_norms_optional = false,
     .experts_need_split_norms = true,
     .overlap_tensor = true,
     .any_expert_tensor = false,
     .whole_expert_tensor = true,
     .selective = false,
     .most_recompute_every = 1,
     .zero = {true, false, true, true},
     .unsharded_alone = true,
     .sharded_with_virtual_stages = true,
     .keeps_gathered = false,  // that is ZeRO 2 here
     .overlap = OverlapOffer::nothing,
     .offloads_optimizer = {false, false, false, true},
     .offloads_parameters = true,
     .offloads_together = true,
     .offloads_activations = ActivationOffload::never},
    {.orders = kUsualOnly,
     .exchanges = kAllToAll,
     .schedules = kPlain,
     .virtual_stages = false,
     .split_norms_optional = true,
     .experts_need_split_norms = false,
     .overlap_tensor = false,
     .any_expert_tensor = false,
     .whole_expert_tensor = false,
     .selective = false,
     .most_recompute_every = 1,
     .zero = {true, true, true, true},
     .unsharded_alone = false,
     .sharded_with_virtual_stages = true,
     .keeps_gathered = false,
     .overlap = OverlapOffer::gradients,
     .offloads_optimizer = {false, true, true, true},
     .offloads_parameters = true,
     .offloads_together = false,
     .offloads_activations = ActivationOffload::with_recompute},
    {.orders = kUsualOnly,
     .exchanges = {},
     .schedules = kPlainAndGpipe,
     .virtual_stages = false,
     .split_norms_optional = true,
     .experts_need_split_norms = false,
     .overlap_tensor = false,
     .any_expert_tensor = false,
     .whole_expert_tensor = false,
     .selective = false,
     .most_recompute_every = 1,
     .zero = {true, true, false, false},
     .unsharded_alone = false,
     .sharded_with_virtual_stages = true,
     .keeps_gathered = false,
     .overlap = OverlapOffer::nothing,
     .offloads_optimizer = {false, false, false, false},
     .offloads_parameters = false,
     .offloads_together = false,
     .offloads_activations = ActivationOffload::never},
    {.orders = kUsualOnly,
     .exchanges = kRing,
     .schedules = kPlain,
     .virtual_stages = true,
     .split_norms_optional = false,
     .experts_need_split_norms = true,
     .overlap_tensor = false,
     .any_expert_tensor = false,
     .whole_expert_tensor = true,
     .selective = false,
     .most_recompute_every = 1,
     .zero = {true, false, false, true},
     .unsharded_alone = false,
     .sharded_with_virtual_stages = true,
     .keeps_gathered = true,
     .overlap = OverlapOffer::nothing,
     .offloads_optimizer = {false, false, false, false},
     .offloads_parameters = false,
     .offloads_together = false,
     .offloads_activations = ActivationOffload::never},
}};

}  // namespace

const Offers& offers(Framework framework) {
  return kOffers[static_cast<std::size_t>(framework)];
}

}  // namespace headway

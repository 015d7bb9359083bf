#include "step/habits.hpp"

#include <algorithm>
#include <array>

namespace headway {
namespace {

// Sources, with the version whose habit it is:
//   megatron   Megatron-LM core 0.8-0.12: bf16 weights, fp32 main gradients that the product adds
//   to
//              (fp16: in fp16; 8-bit recipes: in bf16, and weights kept in 8 bit in both
//              orientations instead of bf16, as in the recipes of NeMo and Megatron-Bridge),
//              transfers between stages split over tp, distributed optimiser with reduce-scatter
//              and all-gather in buckets of at least 40 M parameters, both overlapped; vocabulary
//              padded to 128·tp. Attention by cuDNN through Transformer Engine.
//   fsdp       PyTorch 2.x FSDP with bf16 MixedPrecision: fp32 shards, bf16 gathers, fp32
//              reduce-scatter, one block of prefetch (BACKWARD_PRE); DDP buckets of 25 MiB.
//   deepspeed  0.14-0.19: bf16 weights and gradients, ZeRO-1/2 reduce by all-reduce and then gather
//              (use_multi_rank_bucket_allreduce, runtime/zero/config.py), buckets of 5e8 elements,
//              1,024-byte pipeline metadata.
//   nanotron   0.4 (Dec 2024): bf16 weights, fp32 accumulation beside bf16 gradients. ZeRO-0 by DDP
//              (its buckets of 25 MiB count the bf16 gradients, fp32 is sent); ZeRO-1 without: one
//              call for all gradients, one for all weights (trainer.py, optim/zero.py). Stages
//              balanced by get_block_compute_costs (models/base.py). Norms and rotary embedding are
//              the kernels of flash-attn; queries, keys and values are transposed, joined and
//              transposed again (models/llama.py).
//   jax        MaxText: fp32 weights sharded, bf16 gathers and reductions, compiled.
// Bytes a logit of the loss follow from the kernels each framework issues (docs/models/step.md).
constexpr Bytes kMiB{1024.0 * 1024.0};

constexpr std::array<Habits, kFrameworkNames.size()> kHabits = {{
    {.weights = 2,
     .master_separate = true,
     .gradients = 4,
     .gradients_fp16 = 2,
     .weights_8_bit = 2,
     .gradients_8_bit = 2,
     .transient_gradients = 0,
     .transient_of_stage = false,
     .loss_memory = 10,
     .gathered = 2,
     .flat_gradients = false,
     .gathered_blocks = 2,
     .reduced = 4,
     .reduction = GradientReduction::reduce_scatter,
     .gradients_each_micro_batch = false,
     .zero2_is_zero3_kept = false,
     .bucket = kMiB * 160.0,
     .sharded_at_once = false,
     .overlap_gradients = true,
     .overlap_parameters = true,
     .overlap_tensor = false,
     .pads_vocabulary = true,
     .splits_transfers = true,
     .pipeline_metadata = Bytes(0),
     .balances_stages = false,
     .fused_norms = false,
     .attention_copies = 0,
     .loss_forward = 38,
     .loss_backward = 14,
     .optimizer_passes = 1.0,
     .fused_weight_gradient = true,
     .segments_grow = 2024,
     .recompute_early_stop = 0,
     .expert_bias_forward = 28,
     .expert_bias_backward = 36,
     .weighs_between = true,
     .default_zero = 1,
     .hopper_attention = AttentionKernel::flash3},
    {.weights = 4,
     .master_separate = false,
     .gradients = 4,
     .gradients_fp16 = 4,
     .weights_8_bit = 4,
     .gradients_8_bit = 4,
     .transient_gradients = 4,
     .transient_of_stage = false,
     .loss_memory = 14,
     .gathered = 2,
     .flat_gradients = true,
     .gathered_blocks = 2,
     .reduced = 4,
     .reduction = GradientReduction::reduce_scatter,
     .gradients_each_micro_batch = true,
     .zero2_is_zero3_kept = true,
     .bucket = kMiB * 25.0,
     .sharded_at_once = false,
     .overlap_gradients = true,
     .overlap_parameters = true,
     .overlap_tensor = false,
     .pads_vocabulary = false,
     .splits_transfers = false,
     .pipeline_metadata = Bytes(0),
     .balances_stages = false,
     .fused_norms = false,
     .attention_copies = 0,
     .loss_forward = 14,
     .loss_backward = 22,
     .optimizer_passes = 2.4,
     .fused_weight_gradient = false,
     .segments_grow = 2024,
     .recompute_early_stop = 2023.75,
     .expert_bias_forward = 0,
     .expert_bias_backward = 0,
     .weighs_between = false,
     .default_zero = 3,
     .hopper_attention = AttentionKernel::flash2},
    {.weights = 2,
     .master_separate = true,
     .gradients = 2,
     .gradients_fp16 = 2,
     .weights_8_bit = 4,
     .gradients_8_bit = 2,
     .transient_gradients = 2,
     .transient_of_stage = false,
     .loss_memory = 10,
     .gathered = 2,
     .flat_gradients = false,
     .gathered_blocks = 3,
     .reduced = 2,
     .reduction = GradientReduction::all_reduce,
     .gradients_each_micro_batch = true,
     .zero2_is_zero3_kept = false,
     .bucket = Bytes(1e9),
     .sharded_at_once = false,
     .overlap_gradients = true,
     .overlap_parameters = false,
     .overlap_tensor = false,
     .pads_vocabulary = true,
     .splits_transfers = false,
     .pipeline_metadata = Bytes(1024),
     .balances_stages = false,
     .fused_norms = false,
     .attention_copies = 0,
     .loss_forward = 38,
     .loss_backward = 14,
     .optimizer_passes = 1.3,
     .fused_weight_gradient = false,
     .segments_grow = 2024,
     .recompute_early_stop = 0,
     .expert_bias_forward = 0,
     .expert_bias_backward = 0,
     .weighs_between = false,
     .default_zero = 1,
     .hopper_attention = AttentionKernel::flash2},
    {.weights = 2,
     .master_separate = true,
     .gradients = 4,
     .gradients_fp16 = 4,
     .weights_8_bit = 4,
     .gradients_8_bit = 4,
     .transient_gradients = 2,
     .transient_of_stage = true,
     .loss_memory = 10,
     .gathered = 2,
     .flat_gradients = false,
     .gathered_blocks = 2,
     .reduced = 4,
     .reduction = GradientReduction::reduce_scatter,
     .gradients_each_micro_batch = false,
     .zero2_is_zero3_kept = false,
     .bucket = kMiB * 50.0,
     .sharded_at_once = true,
     .overlap_gradients = true,
     .overlap_parameters = false,
     .overlap_tensor = false,
     .pads_vocabulary = false,
     .splits_transfers = false,
     .pipeline_metadata = Bytes(0),
     .balances_stages = true,
     .fused_norms = true,
     .attention_copies = 14,
     .loss_forward = 38,
     .loss_backward = 14,
     .optimizer_passes = 1.5,
     .fused_weight_gradient = false,
     .segments_grow = 2024,
     .recompute_early_stop = 0,
     .expert_bias_forward = 0,
     .expert_bias_backward = 0,
     .weighs_between = false,
     .default_zero = 1,
     .hopper_attention = AttentionKernel::flash2},
    {.weights = 4,
     .master_separate = false,
     .gradients = 4,
     .gradients_fp16 = 4,
     .weights_8_bit = 4,
     .gradients_8_bit = 4,
     .transient_gradients = 0,
     .transient_of_stage = false,
     .loss_memory = 10,
     .gathered = 2,
     .flat_gradients = false,
     .gathered_blocks = 2,
     .reduced = 2,
     .reduction = GradientReduction::reduce_scatter,
     .gradients_each_micro_batch = true,
     .zero2_is_zero3_kept = true,
     .bucket = Bytes(0),
     .sharded_at_once = false,
     .overlap_gradients = true,
     .overlap_parameters = true,
     .overlap_tensor = true,
     .pads_vocabulary = false,
     .splits_transfers = false,
     .pipeline_metadata = Bytes(0),
     .balances_stages = false,
     .fused_norms = false,
     .attention_copies = 0,
     .loss_forward = 10,
     .loss_backward = 8,
     .optimizer_passes = 1.0,
     .fused_weight_gradient = true,
     .segments_grow = 0,
     .recompute_early_stop = 0,
     .expert_bias_forward = 0,
     .expert_bias_backward = 0,
     .weighs_between = false,
     .default_zero = 3,
     .hopper_attention = AttentionKernel::flash3},
}};

}  // namespace

const Habits& habits(Framework framework) {
  return kHabits[static_cast<std::size_t>(framework)];
}

namespace {

bool is_8_bit(const Job& job) {
  return job.recipe->matmul >= Precision::fp8;
}

}  // namespace

double layer_weight_bytes(const Job& job) {
  const Habits& habit = habits(job.framework);
  if (!job.recipe->master_weights) return 4;
  return is_8_bit(job) ? habit.weights_8_bit : habit.weights;
}

double gradient_bytes(const Job& job) {
  const Habits& habit = habits(job.framework);
  if (!job.recipe->master_weights) return 4;
  if (is_8_bit(job)) return habit.gradients_8_bit;
  if (job.small_gradients) return 2;
  return job.recipe->activation == Precision::fp16 ? habit.gradients_fp16 : habit.gradients;
}

double reduced_bytes(const Job& job) {
  if (!job.recipe->master_weights) return 4;
  if (job.reduce_dtype != WireFormat::framework) {
    return job.reduce_dtype == WireFormat::fp32 ? 4 : 2;
  }
  return std::min(habits(job.framework).reduced, gradient_bytes(job));
}

double gathered_bytes(const Job& job) {
  if (!job.recipe->master_weights || job.param_dtype == WireFormat::fp32) return 4;
  return job.param_dtype == WireFormat::bf16 ? 2 : habits(job.framework).gathered;
}

double transient_gradient_bytes(const Job& job) {
  const Habits& habit = habits(job.framework);
  if (!habit.flat_gradients) return habit.transient_gradients;
  // Each weight's own, the block's flat tensor, and its copy in the format of the wire.
  const double gathered = gathered_bytes(job), reduced = reduced_bytes(job);
  return 2 * gathered + (reduced != gathered ? reduced : 0.0);
}

bool autocast(const Job& job) {
  return job.recipe->master_weights && job.param_dtype == WireFormat::fp32;
}

bool chosen(Choice choice, bool habit) {
  return choice == Choice::framework ? habit : choice == Choice::on;
}

bool shards_weights(const Job& job, const Layout& layout) {
  return layout.zero == 3 || (layout.zero == 2 && habits(job.framework).zero2_is_zero3_kept);
}

bool gaps_cost_time(const Job& job) {
  return job.software > 0 && job.software < habits(job.framework).segments_grow;
}

bool stops_recompute_early(const Job& job, const Layout& layout) {
  const double since = habits(job.framework).recompute_early_stop;
  const bool habit = since > 0 && (job.software <= 0 || job.software >= since);
  return layout.recompute == Recompute::full && layout.recompute_every == 1 &&
         chosen(layout.recompute_early_stop, habit);
}

bool gathers_again(const Job& job, const Layout& layout) {
  return layout.zero == 3 && layout.reshard_after_forward && shards_weights(job, layout);
}

}  // namespace headway

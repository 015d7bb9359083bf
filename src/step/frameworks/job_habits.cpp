#include <algorithm>

#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

bool is_8_bit(const Job& job) {
  return job.recipe->matmul >= Precision::fp8;
}

}  // namespace

Bytes layer_weight_bytes(const Job& job) {
  const Habits& habit = habits(job);
  if (!job.recipe->master_weights) return Bytes(4);
  // Frozen weights are quantised once, and no orientation is made for a gradient of theirs.
  if (is_8_bit(job) && job.task == Task::lora) return Bytes(bytes_per_element(job.recipe->matmul));
  return Bytes(is_8_bit(job) ? habit.memory.weights_8_bit : habit.memory.weights);
}

Bytes gradient_bytes(const Job& job) {
  const Habits& habit = habits(job);
  if (!job.recipe->master_weights) return Bytes(4);
  if (is_8_bit(job)) return Bytes(habit.memory.gradients_8_bit);
  if (job.small_gradients) return Bytes(2);
  return Bytes(job.recipe->activation == Precision::fp16 ? habit.memory.gradients_fp16
                                                         : habit.memory.gradients);
}

Bytes reduced_bytes(const Job& job) {
  if (!job.recipe->master_weights) return Bytes(4);
  if (job.reduce_dtype != WireFormat::framework) {
    return Bytes(job.reduce_dtype == WireFormat::fp32 ? 4 : 2);
  }
  return std::min(Bytes(habits(job).reduction.reduced), gradient_bytes(job));
}

Bytes gathered_bytes(const Job& job) {
  if (!job.recipe->master_weights || job.param_dtype == WireFormat::fp32) return Bytes(4);
  return Bytes(job.param_dtype == WireFormat::bf16 ? 2 : habits(job).sharding.gathered);
}

Bytes transient_gradient_bytes(const Job& job) {
  const Habits& habit = habits(job);
  if (!habit.sharding.flat_gradients) return Bytes(habit.memory.transient_gradients);
  // Each weight's own, the block's flat tensor, and its copy in the format of the wire.
  const Bytes gathered = gathered_bytes(job), reduced = reduced_bytes(job);
  return 2 * gathered + (reduced != gathered ? reduced : Bytes(0));
}

bool autocast(const Job& job) {
  return job.recipe->master_weights && job.param_dtype == WireFormat::fp32;
}

bool chosen(Choice choice, bool habit) {
  return choice == Choice::framework ? habit : choice == Choice::on;
}

bool shards_weights(const Job& job, const Sharding& sharding) {
  return sharding.zero == 3 || (sharding.zero == 2 && habits(job).sharding.zero2_is_zero3_kept);
}

bool states_buckets(const Job& job, const Layout& layout) {
  const Habits& habit = habits(job);
  const bool stage = (habit.reduction.bucket_stated >> layout.zero & 1) != 0;
  // Fetched tensor by tensor weights are only where all are trained.
  const bool bucketed =
      !shards_weights(job, layout) || (habit.sharding.fetch > 0 && job.task != Task::lora);
  return stage && bucketed &&
         (!habit.reduction.bucket_if_overlapped ||
          chosen(layout.overlap_gradients, habit.overlap.gradients));
}

double bucket_parameters(const Job& job, const Layout& layout) {
  const Habits& habit = habits(job);
  if (job.bucket_size > Bytes(0) && states_buckets(job, layout)) {
    return job.bucket_size / reduced_bytes(job);
  }
  if (layout.zero == 1 && habit.sharding.at_once) return 0;
  if (habit.reduction.bucket_if_overlapped &&
      !chosen(layout.overlap_gradients, habit.overlap.gradients)) {
    return 0;
  }
  return std::max(habit.reduction.bucket,
                  habit.reduction.bucket_a_rank * static_cast<double>(layout.dp));
}

double first_bucket_parameters(const Job& job, const Layout& layout) {
  // PyTorch's DDP begins with a smaller one only where no size is stated.
  if (job.bucket_size > Bytes(0) && states_buckets(job, layout)) return 0;
  return habits(job).reduction.first_bucket;
}

bool stops_recompute_early(const Job& job, const Recomputation& choice) {
  const bool layer_by_layer = choice.recompute == Recompute::full && choice.recompute_every == 1;
  return (layer_by_layer || choice.recompute == Recompute::every_second) &&
         chosen(choice.recompute_early_stop, habits(job).kernels.recompute_stops_early);
}

bool gathers_again(const Job& job, const Sharding& sharding) {
  return sharding.zero == 3 && sharding.reshard_after_forward && shards_weights(job, sharding);
}

AttentionKernel usual_attention(const Job& job, const Accelerator& accelerator) {
  const int made_for_it = accelerator.traits.flash_attention;
  if (made_for_it == 0) return AttentionKernel::unfused;
  if (made_for_it == 1) return AttentionKernel::flash1;
  return made_for_it >= 3 && habits(job).kernels.newest_attention ? AttentionKernel::flash3
                                                                  : AttentionKernel::flash2;
}

}  // namespace headway

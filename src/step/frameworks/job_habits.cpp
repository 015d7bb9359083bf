// What a framework's habits come to for one job and layout.
#include <algorithm>

#include "step/frameworks/habits.hpp"

namespace headway {
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

double bucket_parameters(const Job& job, const Layout& layout) {
  const Habits& habit = habits(job.framework);
  if (layout.zero == 1 && habit.sharded_at_once) return 0;
  if (habit.bucket_if_overlapped && !chosen(layout.overlap_gradients, habit.overlap_gradients)) {
    return 0;
  }
  return std::max(habit.bucket, habit.bucket_a_rank * static_cast<double>(layout.dp));
}

bool is_since(const Job& job, double date) {
  return date > 0 && (job.software <= 0 || job.software >= date);
}

bool gaps_cost_time(const Job& job) {
  return job.software > 0 && job.software < habits(job.framework).segments_grow;
}

bool stops_recompute_early(const Job& job, const Layout& layout) {
  const double since = habits(job.framework).recompute_early_stop;
  const bool habit = is_since(job, since);
  return layout.recompute == Recompute::full && layout.recompute_every == 1 &&
         chosen(layout.recompute_early_stop, habit);
}

bool gathers_again(const Job& job, const Layout& layout) {
  return layout.zero == 3 && layout.reshard_after_forward && shards_weights(job, layout);
}

}  // namespace headway

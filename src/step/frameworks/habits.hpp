// What a framework's habits come to for one job and layout.
#pragma once

#include "layout/frameworks/habits.hpp"
#include "layout/job.hpp"
#include "layout/layout.hpp"

namespace headway {

/// Of the job's framework, with software of the job's date.
inline const Habits& habits(const Job& job) {
  return habits(job.framework, job.software);
}

/// Of a parameter: resident weights of layers, of resident gradients, and of a gradient on the
/// wire, for the job's recipe.
Bytes layer_weight_bytes(const Job& job);
Bytes gradient_bytes(const Job& job);
Bytes reduced_bytes(const Job& job);
/// Of a parameter of a gathered block (ZeRO-3).
Bytes gathered_bytes(const Job& job);
/// Of a parameter of one block's gradients before they are added to the resident ones.
Bytes transient_gradient_bytes(const Job& job);
/// torch.autocast on fp32 weights: every product casts what it reads, norms and residual are fp32.
bool autocast(const Job& job);

/// A choice of the layout, or the framework's habit where the layout leaves it open.
bool chosen(Choice choice, bool habit);

/// ZeRO stage 3 as lowered: some frameworks shard the weights at stage 2, too, and keep them
/// gathered.
bool shards_weights(const Job& job, const Sharding& sharding);
/// Whether the run's gradients are sent in buckets whose size its configuration may state.
bool states_buckets(const Job& job, const Layout& layout);
/// Parameters of a bucket of gradients, as stated or by habit; 0: one call for everything.
double bucket_parameters(const Job& job, const Layout& layout);
/// Of the first one, where it is another; 0: as of all.
double first_bucket_parameters(const Job& job, const Layout& layout);
/// Whether recomputation of a layer ends with the last input that its backward pass reads.
bool stops_recompute_early(const Job& job, const Recomputation& choice);
/// Whether the backward pass gathers the weights once more.
bool gathers_again(const Job& job, const Sharding& sharding);

/// The attention kernel that the job's framework takes on an accelerator.
AttentionKernel usual_attention(const Job& job, const Accelerator& accelerator);

}  // namespace headway

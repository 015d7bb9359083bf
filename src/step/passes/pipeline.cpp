// Pipeline parallelism: which stages there are, what passes between them, how many micro-batches
// each holds.
#include "step/passes/pipeline.hpp"

#include <algorithm>

#include "step/passes/data_parallel.hpp"

namespace headway {

// [STEP-12]
double in_flight(const Layout& layout, std::int64_t stage, std::int64_t micro_batches) {
  const double m = static_cast<double>(micro_batches);
  const double pp = static_cast<double>(layout.pp);
  const double after = static_cast<double>(layout.pp - 1 - stage);  // stages behind this one
  if (layout.pp == 1) return 1;
  // [METHOD-2] A stage goes back at once, or when the next one has gone forward.
  if (layout.losses != Losses::model) return layout.losses == Losses::of_pairs ? 2 : 1;
  switch (layout.schedule) {
    case Schedule::one_f_one_b: {
      // [STEP-26] Before its backward pass a micro-batch waits for the vocabulary of all stages,
      // while a chunk of another one runs forward.
      const double waiting = layout.split_vocabulary ? 1 : 0;
      if (layout.vpp == 1) return std::min(m, after + 1 + waiting);
      // Chunks run ahead before the first backward: 2·after + (vpp - 1)·pp, and the one in work.
      const double vpp = static_cast<double>(layout.vpp);
      return std::min(m * vpp, 2 * after + (vpp - 1) * pp + 1 + waiting) / vpp;
    }
    case Schedule::zero_bubble:
    case Schedule::zero_bubble_v:
      return std::min(m, pp);
    case Schedule::gpipe:
    case Schedule::breadth_first:
      return m;
    case Schedule::zero_bubble_h2:
      return std::min(m, 2 * pp - 1);
    // Of two chunks on each rank one is half of what it holds.
    case Schedule::dual_pipe:
      return (pp + 1) / 2;
    case Schedule::dual_pipe_v:
      return pp + 0.5;
    case Schedule::chimera:
      return (pp / 2 + 1 + std::min(static_cast<double>(stage), after)) / 2;
  }
  return 1;
}

namespace {

// Whether some rank has chunks with different numbers of layers. The ends of the model may take the
// place of some in the first and the last chunk.
bool chunks_differ(const Layout& layout, const std::vector<std::int64_t>& begins) {
  if (layout.pp == 1 || chunks_of_rank(layout.schedule, layout.vpp) == 1) return false;
  const std::int64_t chunks = chunks_of_model(layout);
  const bool mirrored = is_folded(layout.schedule) || layout.copies() == 2;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t other = mirrored ? chunks - 1 - chunk : chunk + layout.pp;  // of the rank
    if (other >= chunks) break;
    const auto layers = [&](std::int64_t of) {
      return begins[static_cast<std::size_t>(of) + 1] - begins[static_cast<std::size_t>(of)];
    };
    const std::int64_t more = layers(other) - layers(chunk);
    const bool first_may = chunk == 0 || chunk + 1 == chunks;
    const bool second_may = other == 0 || other + 1 == chunks;
    if ((more > 0 && !first_may) || (more < 0 && !second_may)) return true;
  }
  return false;
}

// A rank of a pipeline with two copies of the model has a stage of each, from either end.
std::vector<StageClass> of_both_copies(const std::vector<StageClass>& stages, bool differ) {
  std::vector<StageClass> out = stages;
  for (std::size_t r = 0; r < stages.size(); ++r) {
    const StageClass& other = stages[stages.size() - 1 - r];
    for (std::size_t i = 0; i < kMostBlocks; ++i) out[r].counts[i] += other.counts[i];
    out[r].share = 0.5;
    if (differ) out[r].chunks = {stages[r].counts, other.counts};
  }
  return out;
}

// The ends stand alone: they send and receive less than the stages between them.
std::vector<StageClass> in_classes(std::vector<StageClass> stages) {
  std::vector<StageClass> out;
  for (StageClass& stage : stages) {
    const bool between = &stage != &stages.back() && !out.empty() && out.back().first > 0;
    if (between && out.back().counts == stage.counts && out.back().chunks == stage.chunks) {
      ++out.back().stages;
    } else {
      out.push_back(std::move(stage));
    }
  }
  return out;
}

}  // namespace

std::vector<StageClass> stage_classes(const Model& model, const Layout& layout,
                                      const BlockIndex& index, bool balanced) {
  const std::vector<std::int64_t> begins = chunk_begins(model, layout, balanced);
  const std::int64_t chunks = chunks_of_model(layout);
  const bool differ = chunks_differ(layout, begins);
  std::vector<StageClass> stages(static_cast<std::size_t>(layout.pp));
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    StageClass& stage = stages[static_cast<std::size_t>(stage_of_chunk(layout, chunk))];
    const BlockCounts before = stage.counts;
    if (chunk == 0 && index.embedding >= 0) ++stage.counts[index.embedding];
    const auto at = static_cast<std::size_t>(chunk);
    for (std::int64_t layer = begins[at]; layer < begins[at + 1]; ++layer) {
      ++stage.counts[static_cast<std::size_t>(model.pattern[layer])];
    }
    if (chunk + 1 == chunks) {
      if (index.head >= 0) ++stage.counts[index.head];
      if (index.prediction >= 0) stage.counts[index.prediction] += model.prediction_layers;
    }
    if (!differ || layout.copies() == 2) continue;
    stage.chunks.push_back(stage.counts);
    for (std::size_t i = 0; i < kMostBlocks; ++i) stage.chunks.back()[i] -= before[i];
  }
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    stages[stage].first = static_cast<std::int64_t>(stage);
    if (index.vocabulary >= 0) ++stages[stage].counts[index.vocabulary];
  }
  return in_classes(layout.copies() == 2 ? of_both_copies(stages, differ) : std::move(stages));
}

// [STEP-11]
void add_pipeline_calls(StageClass& stage, const Share& share, const Layout& layout) {
  if (layout.pp == 1) return;
  const Bytes whole = share.rows * share.hidden * share.element;
  const bool split =
      share.sequence_parallel || (share.habit.pipeline.splits_transfers && layout.tp > 1);
  const Bytes bytes = split ? whole / static_cast<double>(layout.tp) : whole;
  const double micro = static_cast<double>(micro_batches(share.job, layout));
  const bool first = stage.first == 0;
  const bool last = stage.first + stage.stages == layout.pp;
  // Forward a rank sends what each of its chunks computes, but the last chunk of all; backward what
  // each computes, but the first of all. Classes of several stages are not at the ends. A folded
  // pipeline has both ends on its first rank, and nothing to send at the turn on its last.
  const bool folded = is_folded(layout.schedule);
  const double chunks = folded ? 2.0 : static_cast<double>(layout.vpp);
  const double at_ends = (first ? 1 : 0) + (last ? 1 : 0);
  // Losses behind each stage, and methods without a backward pass, send nothing back.
  const bool forward_only = layout.losses == Losses::of_stage || share.job.method.forward_only;
  const double sends = forward_only ? micro * (chunks - (last ? 1 : 0))
                                    : micro * (2 * chunks - (folded ? 2 : 1) * at_ends);
  Call send{.op = CollectiveOp::send_receive,
            .group = Group::pp,
            .phase = Phase::pipeline,
            .dtype = share.activation,
            .bytes = bytes,
            .count = sends};
  stage.items.push_back({.what = send, .flow = Flow::between});
  if (split && !share.sequence_parallel) {
    push(stage, {.op = CollectiveOp::all_gather,
                 .group = Group::tp,
                 .phase = Phase::pipeline,
                 .dtype = share.activation,
                 .bytes = whole,
                 .count = sends});
  }
  send.dtype = Precision::fp32;
  if (share.habit.pipeline.describes_sends) {
    // [STEP-22] Before each tensor seven numbers in 64 bit, then its shape and strides. Forward the
    // mask of the tokens goes with the activation.
    const double at_end = layout.copies() == 2 ? 0.5 * at_ends : folded ? at_ends : last ? 1 : 0;
    const double forward = micro * (chunks - at_end);
    const double dimensions = 3, of_mask = 2;
    const auto describe = [&](Bytes size, double count) {
      if (count == 0) return;
      send.bytes = size;
      send.count = count;
      push(stage, send);
    };
    describe(7 * Bytes(8), sends + forward);
    describe(2 * dimensions * Bytes(8), sends);
    describe(2 * of_mask * Bytes(8), forward);
    describe(share.rows * Bytes(1), forward);
  }
  if (share.habit.pipeline.metadata.value() > 0) {
    send.bytes = share.habit.pipeline.metadata;
    send.count = 2.0 - (first ? 1 : 0) - (last ? 1 : 0);
    push(stage, send);
  }
}

}  // namespace headway

// Pipeline parallelism: which stages there are, what passes between them, how many micro-batches
// each holds. Schedules: GPipe (arXiv 1811.06965), 1F1B and interleaved (2104.04473 §2.2), ZB-H1
// (2401.10241), ZB-V (2405.15362), DualPipe (2412.19437).
#include "step/pipeline.hpp"

#include <algorithm>

#include "step/block_builder.hpp"

namespace headway {

// [STEP-12]
double in_flight(const Layout& layout, std::int64_t stage, std::int64_t micro_batches) {
  const double m = static_cast<double>(micro_batches);
  const double pp = static_cast<double>(layout.pp);
  const double after = static_cast<double>(layout.pp - 1 - stage);  // stages behind this one
  if (layout.pp == 1) return 1;
  switch (layout.schedule) {
    case Schedule::gpipe:
      return m;
    case Schedule::one_f_one_b: {
      if (layout.vpp == 1) return std::min(m, after + 1);
      // Chunks run ahead before the first backward: 2·after + (vpp - 1)·pp, and the one in work.
      const double vpp = static_cast<double>(layout.vpp);
      return std::min(m * vpp, 2 * after + (vpp - 1) * pp + 1) / vpp;
    }
    case Schedule::zero_bubble:
    case Schedule::zero_bubble_v:
      return std::min(m, pp);
    case Schedule::dual_pipe:
      return std::min(m, pp + 1);
  }
  return 1;
}

std::vector<StageClass> stage_classes(const Model& model, const Layout& layout,
                                      const BlockIndex& index, bool balanced) {
  std::vector<std::int64_t> begins;  // [STEP-13]
  if (balanced && layout.vpp == 1 && layout.first_stage_layers == 0 &&
      layout.last_stage_layers == 0) {
    begins = balanced_stages(model, layout.pp).begins;
  }
  std::vector<StageClass> classes;
  // DualPipe gives each rank two stages, one from either end, of half the layers each; by symmetry
  // its stages are those of a pipeline in which a rank holds chunks s and pp - 1 - s.
  const std::int64_t chunks = layout.pp * layout.vpp;
  const std::int64_t layers = model.layers();
  std::int64_t next = 0;  // the first layer of the next stage's first chunk
  for (std::int64_t stage = 0; stage < layout.pp; ++stage) {
    StageClass made;
    made.first = stage;
    for (std::int64_t chunk = stage; chunk < chunks; chunk += layout.pp) {
      const std::int64_t begin = chunk == stage ? next : chunk_begin(layers, layout, chunk);
      const std::int64_t end = begins.empty() ? chunk_begin(layers, layout, chunk + 1)
                                              : begins[static_cast<std::size_t>(chunk) + 1];
      if (chunk == stage) next = end;
      for (std::int64_t layer = begin; layer < end; ++layer) {
        ++made.counts[static_cast<std::size_t>(model.pattern[layer])];
      }
    }
    if (stage == 0 && index.embedding >= 0) ++made.counts[index.embedding];
    // ZB-V folds the pipeline, so that the last layers and the head lie on the first rank.
    const std::int64_t head_stage = layout.schedule == Schedule::zero_bubble_v ? 0 : layout.pp - 1;
    if (stage == head_stage && index.head >= 0) ++made.counts[index.head];
    if (stage == head_stage && index.prediction >= 0) {
      made.counts[index.prediction] += model.prediction_layers;
    }
    // The ends stand alone: they send and receive less than the stages between them.
    const bool between = stage + 1 < layout.pp && !classes.empty() && classes.back().first > 0;
    if (between && classes.back().counts == made.counts) {
      ++classes.back().stages;
    } else {
      classes.push_back(std::move(made));
    }
  }
  return classes;
}

// [STEP-11]
void add_pipeline_calls(StageClass& stage, const Slice& slice) {
  const Layout& layout = slice.layout;
  if (layout.pp == 1) return;
  const double whole = slice.rows * slice.hidden * slice.element;
  const bool split =
      slice.sequence_parallel || (slice.habit.pipeline.splits_transfers && layout.tp > 1);
  const double bytes = split ? whole / static_cast<double>(layout.tp) : whole;
  const double micro = static_cast<double>(micro_batches(slice.job, layout));
  const bool first = stage.first == 0;
  const bool last = stage.first + stage.stages == layout.pp;
  // Forward a rank sends what each of its chunks computes, but the last chunk of all; backward what
  // each computes, but the first of all. Classes of several stages are not at the ends.
  const double chunks = static_cast<double>(layout.vpp);
  const double sends = micro * (2 * chunks - (first ? 1 : 0) - (last ? 1 : 0));
  stage.calls.push_back({CollectiveOp::send_receive, Group::pp, Phase::pipeline, HiddenBy::pipeline,
                         slice.activation, Bytes(bytes), sends});
  if (split && !slice.sequence_parallel) {
    stage.calls.push_back({CollectiveOp::all_gather, Group::tp, Phase::pipeline, HiddenBy::nothing,
                           slice.activation, Bytes(whole), sends});
  }
  if (slice.habit.pipeline.describes_sends) {
    // [STEP-22] Before each tensor seven numbers in 64 bit, then its shape and strides. Forward the
    // mask of the tokens goes with the activation.
    const double forward = micro * (chunks - (last ? 1 : 0));
    const double dimensions = 3, of_mask = 2;
    const auto send = [&](double size, double count) {
      if (count == 0) return;
      stage.calls.push_back({CollectiveOp::send_receive, Group::pp, Phase::pipeline,
                             HiddenBy::nothing, Precision::fp32, Bytes(size), count});
    };
    send(7 * 8, sends + forward);
    send(2 * dimensions * 8, sends);
    send(2 * of_mask * 8, forward);
    send(slice.rows, forward);
  }
  if (slice.habit.pipeline.metadata.value() > 0) {
    stage.calls.push_back({CollectiveOp::send_receive, Group::pp, Phase::pipeline,
                           HiddenBy::nothing, Precision::fp32, slice.habit.pipeline.metadata,
                           2.0 - (first ? 1 : 0) - (last ? 1 : 0)});
  }
}

}  // namespace headway

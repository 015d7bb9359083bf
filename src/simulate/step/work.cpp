#include "simulate/step/work.hpp"

#include <algorithm>

#include "simulate/step/chunks.hpp"

namespace headway {
namespace {

// The class of stages that a rank is of.
const StageClass& class_of(const Step& step, std::int64_t rank) {
  for (const StageClass& stage : step.stages) {
    if (rank < stage.first + stage.stages) return stage;
  }
  return step.stages.back();
}

std::vector<RankWork> work_of_ranks(const Run& run, const PricedStep& priced,
                                    const Pipeline& pipeline) {
  const std::vector<ChunkBlocks> chunks = blocks_of_chunks(run, priced.step);
  SlotPrograms programs(priced);
  std::vector<RankWork> out(static_cast<std::size_t>(pipeline.ranks));
  for (std::int64_t r = 0; r < pipeline.ranks; ++r) {
    RankWork& work = out[static_cast<std::size_t>(r)];
    SlotsOfRank slots;
    for (std::int64_t c = 0; c < pipeline.chunks(); ++c) {
      const ChunkBlocks& blocks = chunks[static_cast<std::size_t>(pipeline.stage(r, c))];
      auto& of_chunk = work.chunks.emplace_back();
      for (const SlotWork each : {SlotWork::forward, SlotWork::backward, SlotWork::input_gradient,
                                  SlotWork::weight_gradient}) {
        of_chunk[static_cast<std::size_t>(each)] = programs.get(blocks, each);
      }
      slots.forward += of_chunk[0]->time;
      slots.backward += of_chunk[1]->time;
    }
    const auto each = static_cast<double>(pipeline.chunks() / pipeline.copies());
    slots.forward /= static_cast<double>(pipeline.copies());
    slots.backward /= static_cast<double>(pipeline.copies());
    slots.half = (slots.forward + slots.backward) * 0.5 / each;
    slots.count = 2 * static_cast<double>(pipeline.micro_batches_of_copy() * pipeline.chunks());
    work.once = once_a_step(class_of(priced.step, r), priced, slots);
  }
  return out;
}

}  // namespace

PricedStep priced_step(const Step& step, const Prices& prices) {
  PricedStep out{step, prices, {}};
  std::vector<PricedCall> calls;
  for (const Block& block : step.blocks) out.blocks.push_back(price_block(block, prices, calls));
  return out;
}

PipelineWork work_of_step(const Run& run, const PricedStep& priced) {
  PipelineWork out;
  out.pipeline = run.layout.pp > 1
                     ? pipeline_of(run.layout, priced.step.micro_batches)
                     : Pipeline{Schedule::one_f_one_b, 1, 1, priced.step.micro_batches};
  out.pipeline.losses = run.layout.losses;
  out.pipeline.forward_only = run.job.method.forward_only;
  out.ranks = work_of_ranks(run, priced, out.pipeline);
  out.rules.blocking = run.layout.vpp == 1 && !is_placed(run.layout.schedule);
  out.rules.interference = priced.prices.calibration.shared.interference;
  return out;
}

std::optional<std::size_t> same_call(const std::vector<RankWork>& ranks, std::size_t r,
                                     std::size_t at, std::size_t other) {
  const auto& own = ranks[r].once.after;
  const auto& after = ranks[other].once.after;
  const auto group = own[at].meets;
  if (group == Group::copies && other != r && other + r + 1 != ranks.size()) return std::nullopt;
  // The first call of this group, the second ...
  auto left = std::count_if(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(at),
                            [&](const AfterSlots& each) { return each.meets == group; });
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i].meets == group && left-- == 0) return i;
  }
  return std::nullopt;
}

}  // namespace headway

#include "simulate/step/chunks.hpp"

#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

int index_of(const Step& step, BlockKind kind) {
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    if (step.blocks[i].kind == kind) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

std::vector<ChunkBlocks> blocks_of_chunks(const Run& run, const Step& step) {
  const bool balanced = habits(run.job).pipeline.balances_stages;
  const std::vector<std::int64_t> begins = chunk_begins(run.model, run.layout, balanced);
  std::vector<ChunkBlocks> out(begins.size() - 1);
  const auto add = [&](ChunkBlocks& to, int block) {
    if (block >= 0) to.push_back(static_cast<std::size_t>(block));
  };
  add(out.front(), index_of(step, BlockKind::embedding));
  for (std::size_t chunk = 0; chunk < out.size(); ++chunk) {
    for (std::int64_t layer = begins[chunk]; layer < begins[chunk + 1]; ++layer) {
      out[chunk].push_back(run.model.pattern[static_cast<std::size_t>(layer)]);
    }
  }
  // [METHOD-2] Behind the last stage the model's own head, behind each other block with a loss of
  // its own one more; of pairs the first stage's too.
  const int head = index_of(step, BlockKind::head);
  for (std::size_t chunk = 0; chunk < out.size(); ++chunk) {
    std::int64_t heads = chunk + 1 == out.size() ? 1 : 0;
    if (run.layout.losses == Losses::of_stage) heads = run.layout.loss_blocks;
    if (run.layout.losses == Losses::of_pairs) heads = chunk > 0 ? 1 : 0;
    for (std::int64_t i = 0; i < heads; ++i) add(out[chunk], head);
  }
  for (std::int64_t i = 0; i < run.model.prediction_layers; ++i) {
    add(out.back(), index_of(step, BlockKind::prediction));
  }
  return out;
}

}  // namespace headway

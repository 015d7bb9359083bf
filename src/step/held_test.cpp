// Parameters held.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

double held_by_all_stages(const Case& c) {
  double out = 0;
  for (const StageClass& stage : c.lowered().stages) {
    out += static_cast<double>(stage.stages) * stage.parameters;
  }
  return out;
}

TEST(Held, OneRankHoldsEveryParameterOfEveryBuiltInModel) {
  for (const std::string& name : model_names()) {
    Case c = case_of(name);
    c.job.framework = framework_from("fsdp").value();  // does not pad the vocabulary
    const Parameters all = parameters(c.model);
    EXPECT_DOUBLE_EQ(held_by_all_stages(c), static_cast<double>(all.total + all.prediction))
        << name;
  }
}

TEST(Held, StagesHoldEveryParameterOnceAndTiedTablesTwice) {
  for (const char* name : {"llama-2-7b", "megatron-22b", "deepseek-v3"}) {
    Case c = case_of(name, "dgx-h100");
    c.job.framework = framework_from("nanotron").value();
    c.layout.pp = 4;
    const Parameters all = parameters(c.model);
    const double twice =
        c.model.tied_embeddings ? static_cast<double>(c.model.vocabulary * c.model.hidden) : 0;
    EXPECT_DOUBLE_EQ(held_by_all_stages(c), static_cast<double>(all.total + all.prediction) + twice)
        << name;
  }
}

TEST(Held, PaddingAddsRowsOfTheVocabulary) {
  Case c = case_of("gpt2-xl");  // 50,257 rows of 1,600, tied
  const double total = static_cast<double>(parameters(c.model).total);
  EXPECT_DOUBLE_EQ(held_by_all_stages(c), total + 1600.0 * (50304 - 50257));
}

TEST(Held, TensorRanksShareMatricesAndRepeatNorms) {
  Case c = case_of("llama-2-7b");
  c.job.framework = framework_from("fsdp").value();
  c.layout.tp = 8;
  const double total = static_cast<double>(parameters(c.model).total);
  const double norms = 65 * 4096;  // two a layer and the final one
  EXPECT_DOUBLE_EQ(8 * held_by_all_stages(c), total + 7 * norms);
}

TEST(Held, ExpertRanksShareTheExperts) {
  Case whole = case_of("mixtral-8x7b");
  whole.job.global_batch = 8;
  whole.layout.dp = 8;
  Case split = whole;
  split.layout.ep = 4;
  const HeldParameters one = whole.lowered().blocks[0].held;
  const HeldParameters part = split.lowered().blocks[0].held;
  EXPECT_DOUBLE_EQ(part.experts, one.experts / 4);
  EXPECT_DOUBLE_EQ(part.dense, one.dense);
  split.layout.etp = 2;
  EXPECT_DOUBLE_EQ(split.lowered().blocks[0].held.experts, one.experts / 8);
}

TEST(Held, AdaptersAloneAreTrained) {
  Case c = case_of("llama-2-7b");
  c.job.task = Task::lora;
  c.job.lora_rank = 8;
  const Step step = c.lowered();
  const HeldParameters& layer = step.blocks[0].held;
  EXPECT_NEAR(layer.trained * layer.dense, 8.0 * (16384 + 8192 + 26112 + 15104), 1e-3);
  for (const Block& block : step.blocks) {
    if (block.kind != BlockKind::layer) {
      EXPECT_EQ(block.held.trained, 0);
    }
  }
}

// Llama 2 7B: 6,476,267,520 parameters in layers, one byte each, and 262,148,096 in embedding, head
// and last norm, two each. Trained in 8 bit, Megatron holds both orientations.
TEST(Held, FrozenWeightsOf8BitRecipesAreOneCopy) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.recipe = recipe_from("fp8");
  c.job.task = Task::lora;
  EXPECT_DOUBLE_EQ(c.lowered().held.memory.parameters.value(), 6'476'267'520.0 + 2 * 262'148'096.0);
  c.job.task = Task::pretrain;
  EXPECT_GE(c.lowered().held.memory.parameters.value(), 2 * 6'738'415'616.0);
}

}  // namespace
}  // namespace headway::testing

#include "step/frameworks/experts.hpp"

#include <gtest/gtest.h>

#include "layout/frameworks/framework.hpp"

namespace headway {
namespace {

// A layer as Mixtral's, or a dense one.
Model model_with(std::int64_t experts) {
  Layer layer;
  if (experts > 0) {
    layer.experts.emplace();
    layer.experts->count = experts;
    layer.experts->each.width = 14336;
  }
  Model model;
  model.kinds = {layer};
  return model;
}

std::int64_t usual(std::int64_t experts, const char* framework, std::int64_t dp, std::int64_t tp,
                   std::int64_t ep) {
  Job job;
  job.framework = framework_from(framework).value();
  Layout layout;
  layout.dp = dp;
  layout.tp = tp;
  layout.ep = ep;
  return usual_expert_tensor(model_with(experts), job, layout);
}

// Megatron-LM, parallel_state.py: expert_tensor_parallel_size is tensor_model_parallel_size where
// it is not given; its groups need ep x etp to divide the ranks of a stage.
TEST(ExpertTensor, IsThatOfTheLayersWhereTheFrameworkSplitsThemAlikeAndItDivides) {
  EXPECT_EQ(usual(8, "megatron", 4, 2, 4), 2);
  EXPECT_EQ(usual(8, "megatron", 1, 8, 1), 8);
  EXPECT_EQ(usual(8, "megatron", 2, 2, 4), 1);   // 4 x 2 on 4 ranks
  EXPECT_EQ(usual(8, "megatron", 6, 2, 4), 1);   // 8 does not divide 12
  EXPECT_EQ(usual(8, "megatron", 1, 3, 1), 1);   // nor 3 the width of 14,336
  EXPECT_EQ(usual(8, "deepspeed", 4, 2, 4), 1);  // only where it is asked for
  EXPECT_EQ(usual(8, "fsdp", 4, 2, 4), 1);
  EXPECT_EQ(usual(0, "megatron", 4, 2, 1), 1);
  EXPECT_EQ(usual(8, "megatron", 4, 2, 0), 1);
}

}  // namespace
}  // namespace headway

#include <gtest/gtest.h>

#include "launch/megatron/read_for_test.hpp"
#include "launch/read_back_for_test.hpp"

namespace headway {
namespace {

using testing::field;
using testing::messages;

Result<LaunchRequest> read_table(const std::string& text) {
  return read_launch(text, "model_config.yaml", *launcher_of(text, "model_config.yaml"));
}

// As tests/functional_tests of Megatron-LM state their runs: switches are true or false, and
// brackets without commas hold words.
TEST(LaunchTable, ArgumentsInATableOfYamlAreRead) {
  const std::string text =
      "ENV_VARS:\n  NCCL_ALGO: Ring\nMODEL_ARGS:\n  # size\n  --num-layers: 4\n"
      "  --hidden-size: 256\n  --num-attention-heads: 4\n  --seq-length: 128\n"
      "  --max-position-embeddings: 128\n  --micro-batch-size: 2\n  --global-batch-size: 16\n"
      "  --vocab-file: ${DATA_PATH}/v.json\n  --bf16: true\n  --sequence-parallel: false\n"
      "  --tensor-model-parallel-size: 2\n  --recompute-granularity: selective\n"
      "  --recompute-modules: \"[core_attn mlp]\"\nTEST_TYPE: regular\n";
  const auto request = read_table(text);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "tp"), "2");
  EXPECT_EQ(field(*request, "no-sp"), "true");
  EXPECT_EQ(field(*request, "precision"), "bf16");
  EXPECT_EQ(field(*request, "recompute-pieces"), "core,feed-forward");
  EXPECT_EQ(field(*request, "gpus"), "(none)");
  for (const GivenField& given : request->fields) {
    if (given.name == "tp") {
      EXPECT_EQ(where_text(given.where), "model_config.yaml:15: --tensor-model-parallel-size");
    }
  }
  const auto unknown = read_table("MODEL_ARGS:\n  --num-layers: 4\n  --fancy-parallel: 2\n");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(where_text(unknown.problems()[0]), "model_config.yaml:3: --fancy-parallel");
  EXPECT_FALSE(read_table("MODEL_ARGS: --num-layers\n").ok());
}

}  // namespace
}  // namespace headway

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/count.hpp"
#include "model/reading/load.hpp"
#include "model/says_for_test.hpp"

namespace headway {
namespace {

Result<Model> read_own(const std::string& text) {
  const Result<Document> document = parse_toml(text, "my.toml");
  if (!document) return document.problems();
  return model_from_toml(*document, "my");
}

TEST(OwnForm, DescribesAGptInAFewLines) {
  const Result<Model> model = read_own(R"(
layers = 12
hidden = 768
heads = 12
vocabulary = 50257
tied = true
learned_positions = 1024
bias = true
)");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(parameters(*model).total, 124'439'808);  // GPT-2
}

TEST(OwnForm, DescribesALlama) {
  const Result<Model> model = read_own(R"(
layers = 80
hidden = 8192
heads = 64
kv_heads = 8
feed_forward = 28672
gated = true
activation = "silu"
norm = "rms"
vocabulary = 128256
)");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(parameters(*model).total, 70'553'706'496);
}

// The shape of DeepSeek-V3, whose config.json is built in.
TEST(OwnForm, DescribesLatentAttentionAndPredictionLayers) {
  const Result<Model> model = read_own(R"(
layers = 61
hidden = 7168
heads = 128
head_dim = 192
feed_forward = 18432
gated = true
activation = "silu"
norm = "rms"
vocabulary = 129280
prediction_layers = 1
[latent]
query_rank = 1536
key_value_rank = 512
rope_dim = 64
value_dim = 128
[experts]
count = 256
active = 8
width = 2048
shared_width = 2048
router_bias = true
first_dense = 3
)");
  ASSERT_TRUE(model.ok());
  const Model built_in = load_model("deepseek-v3").value();
  EXPECT_EQ(model->kinds, built_in.kinds);
  EXPECT_EQ(model->pattern, built_in.pattern);
  EXPECT_EQ(parameters(*model).total, parameters(built_in).total);
}

TEST(OwnForm, TakesAPatternOfExpertsThatCoversEveryLayer) {
  const std::string start =
      "layers = 4\nhidden = 64\nheads = 4\nvocabulary = 100\n"
      "[experts]\ncount = 8\nactive = 2\n";
  const Result<Model> model = read_own(start + "pattern = [0, 1, 1, 0]\n");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->pattern, (std::vector<std::uint8_t>{0, 1, 1, 0}));
  EXPECT_TRUE(says(read_own(start + "pattern = [0, 1]\n"), "my.toml:8: experts.pattern",
                   "each of the 4 layers"));
  EXPECT_TRUE(says(read_own(start + "pattern = [0, 1, 2, 0]\n"), "my.toml:8: experts.pattern",
                   "each of the 4 layers"));
  EXPECT_TRUE(says(read_own(start + "pattern = [0, 1, 1, 0]\nevery = 2\n"),
                   "my.toml:9: experts.every", "beside"));
}

TEST(OwnForm, DescribesAMixtureWithDenseLayersFirst) {
  const Result<Model> model = read_own(R"(
layers = 4
hidden = 64
heads = 4
feed_forward = 200
gated = true
norm = "rms"
vocabulary = 0
final_norm = false
[experts]
count = 8
active = 2
width = 32
shared_width = 16
first_dense = 1
)");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->pattern, (std::vector<std::uint8_t>{0, 1, 1, 1}));
  const std::int64_t attention = 4 * 64 * 64 + 2 * 64;
  const std::int64_t dense = attention + 3 * 64 * 200;
  const std::int64_t sparse = attention + 64 * 8 + 8 * 3 * 64 * 32 + 3 * 64 * 16;
  EXPECT_EQ(parameters(*model).total, dense + 3 * sparse);
  EXPECT_EQ(parameters(*model).active, dense + 3 * (sparse - 6 * 3 * 64 * 32));
}

TEST(OwnForm, WithoutHeadsHasNoAttention) {
  const Result<Model> model = read_own(
      "layers = 2\nhidden = 8\nvocabulary = 0\nnorms = 0\n"
      "final_norm = false\n");
  ASSERT_TRUE(model.ok());
  EXPECT_FALSE(model->kinds[0].attention.has_value());
  EXPECT_EQ(parameters(*model).total, 2 * 2 * 8 * 32);
}

TEST(OwnForm, ReportsEveryProblemAtOnce) {
  const Result<Model> model = read_own(R"(layers = 0
hidden = 100
heads = 3
hiden = 3
norm = "batch"
dropout = 1.5
[experts]
count = 4
active = 5
actve = 5
)");
  ASSERT_FALSE(model.ok());
  EXPECT_TRUE(says(model, "my.toml:1: layers", "is 0"));
  EXPECT_TRUE(says(model, "my.toml:3: heads", "does not divide"));
  EXPECT_TRUE(says(model, "my.toml:4: hiden", "did you mean 'hidden'?"));
  EXPECT_TRUE(says(model, "my.toml:5: norm", "must be 'layer' or 'rms'"));
  EXPECT_TRUE(says(model, "my.toml:6: dropout", "probability"));
  EXPECT_TRUE(says(model, "my.toml:9: experts.active", "more than the 4"));
  EXPECT_TRUE(says(model, "my.toml:10: experts.actve", "did you mean 'active'?"));
  EXPECT_EQ(model.problems().size(), 8u);  // and the missing vocabulary
}

TEST(OwnForm, FieldsOfAttentionNeedHeads) {
  EXPECT_TRUE(says(read_own("layers = 2\nhidden = 8\nvocabulary = 0\nkv_heads = 2\n"),
                   "my.toml:4: kv_heads", "needs 'heads'"));
}

}  // namespace
}  // namespace headway

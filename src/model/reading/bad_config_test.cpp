// Configurations that are refused, and what is said of them.
#include <gtest/gtest.h>

#include <string>

#include "model/reading/config_for_test.hpp"

namespace headway {
namespace {

using testing::config::eight_layers;
using testing::config::read;
using testing::config::valid;

// GLM-5.2: three layers of four read the keys that another chose.
TEST(BadConfig, LayersThatShareChosenKeysAreRefused) {
  const std::string config =
      R"({"model_type": "glm_moe_dsa", "hidden_size": 64, "num_hidden_layers": 4, "vocab_size": 100,
      "num_attention_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8,
      "qk_nope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 8, "num_experts_per_tok": 2,
      "moe_intermediate_size": 32, "intermediate_size": 128, "index_topk": 16)";
  const Result<Model> model = read(config + "}");
  ASSERT_TRUE(model.ok()) << model.problems().front().message;
  EXPECT_EQ(model->kinds.back().attention->indexer->keep, 16);
  EXPECT_EQ(model->kinds.back().attention->indexer->heads, 32);
  const Result<Model> shared = read(config + ",\n\"index_topk_freq\": 4}");
  EXPECT_TRUE(says(shared, "config.json:5: index_topk_freq", "share"));
  EXPECT_EQ(shared.problems()[0].kind, Trouble::unsupported);
}

// Which layers share a block, how many blocks there are, and heads of twice the hidden width.
TEST(BadConfig, SharedBlocksAreSaidOfEachLayer) {  // [MODEL-10]
  const auto with = [](const std::string& more) {
    return read(R"({"model_type": "zamba2", "hidden_size": 64, "num_hidden_layers": 2,
      "vocab_size": 100, "n_mamba_heads": 4, )" +
                more + "}");
  };
  const std::string types = R"("layers_block_type": ["mamba", "hybrid"])";
  EXPECT_TRUE(with(types + R"(, "num_attention_heads": 4)").ok());
  EXPECT_TRUE(
      says(with(R"("num_attention_heads": 4)"), "config.json:1: layers_block_type", "block"));
  EXPECT_TRUE(says(with(types + R"(, "num_attention_heads": 4, "num_mem_blocks": 0)"),
                   "config.json:2: num_mem_blocks", "1"));
  EXPECT_TRUE(says(with(types + R"(, "num_attention_heads": 3)"),
                   "config.json:2: num_attention_heads", "divide"));
}

// Another family's numbers would be wrong ones, however near its name.
TEST(BadConfig, AnUnknownArchitectureIsNotTakenForAnother) {
  const Result<Model> model = read("{\n\"architectures\": [\"LamaForCausalLM\"]}");
  EXPECT_TRUE(says(model, "config.json:2: architectures",
                   "'LamaForCausalLM' is none of the families of networks that are read"));
  EXPECT_FALSE(says(model, "config.json:2: architectures", "did you mean"));
  EXPECT_EQ(model.problems()[0].kind, Trouble::unknown);
  EXPECT_TRUE(says(read("{}"), "config.json:1: architectures", "is missing"));
  EXPECT_TRUE(says(read(R"({"model_type": "lama"})"), "config.json:1: model_type", "is none of"));
}

TEST(BadConfig, WhatIsNoDecoderIsRefusedByItsKind) {
  const struct {
    const char* architecture;
    const char* type;
    const char* kind;
  } rows[] = {
      {"AlbertForMaskedLM", "albert", "is an encoder;"},
      {"DebertaV2Model", "deberta-v2", "is an encoder;"},
      {"LongT5ForConditionalGeneration", "longt5", "is an encoder with a decoder;"},
      {"SpeechT5ForSpeechToText", "speecht5", "is an encoder with a decoder;"},
      {"RwkvForCausalLM", "rwkv", "is a recurrent network or one of state spaces;"},
      {"FalconH1ForCausalLM", "falcon_h1", "is attention mixed with state spaces;"},
      {"SiglipModel", "siglip", "is a network for images;"},
  };
  for (const auto& row : rows) {
    const Result<Model> named = read(R"({"architectures": [")" + std::string(row.architecture) +
                                     R"("], "hidden_size": 64})");
    EXPECT_TRUE(says(named, "config.json:1: architectures", row.kind)) << row.architecture;
    ASSERT_EQ(named.problems().size(), 1u);
    EXPECT_EQ(named.problems()[0].kind, Trouble::unsupported);
    const Result<Model> typed = read(R"({"model_type": ")" + std::string(row.type) + R"("})");
    EXPECT_TRUE(says(typed, "config.json:1: model_type", row.kind)) << row.type;
  }
}

TEST(BadConfig, EveryProblemIsReportedAtOnceWithItsLine) {
  const Result<Model> model = read(R"({"architectures": ["MixtralForCausalLM"],
    "hidden_size": -4096,
    "num_hidden_layers": 100001,
    "num_attention_heads": 32,
    "num_key_value_heads": 5,
    "num_local_experts": 8,
    "num_experts_per_tok": 9,
    "hidden_act": "sillu",
    "vocab_size": "32000"})");
  ASSERT_FALSE(model.ok());
  EXPECT_TRUE(says(model, "config.json:2: hidden_size", "is -4096"));
  EXPECT_TRUE(says(model, "config.json:3: num_hidden_layers", "implausibly large"));
  EXPECT_TRUE(says(model, "config.json:5: num_key_value_heads", "does not divide the 32 heads"));
  EXPECT_TRUE(says(model, "config.json:7: num_experts_per_tok", "more than the 8"));
  EXPECT_TRUE(says(model, "config.json:8: hidden_act", "did you mean 'silu'?"));
  EXPECT_TRUE(says(model, "config.json:9: vocab_size", "whole number"));
  EXPECT_TRUE(says(model, "config.json:1: intermediate_size", "is missing"));
  EXPECT_EQ(model.problems().size(), 7u);
}

// A list with a number for each layer is that number where all are alike; nothing stands for
// others.
TEST(BadConfig, LayersThatDifferInANumberAreAProblem) {
  const std::string text = R"(, "num_experts": 4, "moe_topk": )";
  EXPECT_EQ(
      valid(eight_layers("HunYuanMoEV1ForCausalLM", text + "[2, 2, 2]")).kinds[0].experts->active,
      2);
  EXPECT_FALSE(read(eight_layers("HunYuanMoEV1ForCausalLM", text + "[2, 1, 2]")).ok());
  EXPECT_FALSE(read(eight_layers("HunYuanMoEV1ForCausalLM", text + "[]")).ok());
}

TEST(BadConfig, WhatAFamilyCannotBeReadWithIsSaidAtItsField) {
  EXPECT_TRUE(says(read(eight_layers("Ernie4_5_MoeForCausalLM", R"(, "moe_num_experts": 4,
    "moe_k": 2, "moe_intermediate_size": 32, "use_bias": true)")),
                   "config.json:4: use_bias", "must be false"));
}

TEST(BadConfig, LayerTypesThatAFamilyDoesNotHaveAreAProblem) {
  const std::string linear = R"(, "layer_types": ["full_attention", "linear_attention",
    "full_attention", "full_attention", "full_attention", "full_attention", "full_attention",
    "full_attention"])";
  EXPECT_FALSE(read(eight_layers("LlamaForCausalLM", linear)).ok());
  EXPECT_FALSE(read(eight_layers("LlamaForCausalLM", R"(, "layer_types": 3)")).ok());
  // A list that would unfold without end is as long as no network.
  EXPECT_FALSE(read(eight_layers("GPTNeoForCausalLM",
                                 R"(, "max_position_embeddings": 64,
                                    "attention_types": [[["global", 1], 1000000000000]])"))
                   .ok());
}

TEST(BadConfig, HeadsThatDoNotDivideTheWidthAreAProblemUnlessHeadDimIsGiven) {
  const std::string text = R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 100,
    "intermediate_size": 128, "num_attention_heads": 3, "num_hidden_layers": 2,
    "vocab_size": 100)";
  EXPECT_TRUE(says(read(text + "}"), "config.json:2: num_attention_heads",
                   "does not divide the hidden size 100"));
  EXPECT_TRUE(read(text + R"(, "head_dim": 32})").ok());
}

TEST(BadConfig, EachFieldOfTheShapeIsNamedWhenMissing) {
  const char* fields[] = {"hidden_size", "intermediate_size", "num_attention_heads",
                          "num_hidden_layers", "vocab_size"};
  for (const char* left_out : fields) {
    std::string text = R"({"architectures": ["LlamaForCausalLM"])";
    for (const char* field : fields) {
      if (field != left_out) text += ", \"" + std::string(field) + "\": 64";
    }
    const Result<Model> model = read(text + "}");
    ASSERT_FALSE(model.ok()) << left_out;
    EXPECT_EQ(model.problems().size(), 1u) << left_out;
    EXPECT_TRUE(says(model, "config.json:1: " + std::string(left_out), "is missing")) << left_out;
  }
}

TEST(BadConfig, AProductThatWouldNotFitIsImplausiblyLarge) {
  EXPECT_TRUE(says(read(R"({"architectures": ["MixtralForCausalLM"], "hidden_size": 10000000,
    "intermediate_size": 1000000000, "num_attention_heads": 1000000, "num_key_value_heads": 1,
    "head_dim": 1000000, "num_hidden_layers": 100000, "num_local_experts": 1000000,
    "num_experts_per_tok": 1000000, "vocab_size": 1000000000})"),
                   "config.json:1", "implausibly large"));
}

// Of networks that a template reads: what is missing, or cannot be, by the config's own names.
TEST(BadConfig, OfTemplatesNamesTheFieldsOfTheConfig) {
  const Result<Model> none = read(R"({"architectures": ["CLIPModel"], "vision_config":
    {"patch_size": 0}, "text_config": {"hidden_size": "wide"}})");
  ASSERT_FALSE(none.ok());
  EXPECT_TRUE(says(none, "config.json: vision_config.patch_size", "must not be 0"));
  EXPECT_TRUE(says(none, "config.json: text_config.hidden_size", "must be a number"));
  const Result<Model> heads = read(R"({"architectures": ["BertModel"], "hidden_size": 100,
    "num_attention_heads": 7})");
  EXPECT_TRUE(says(heads, "config.json: block[1].modules[0].residual[0].attention",
                   "heads must divide the width, 100"));
  const Result<Model> huge = read(R"({"architectures": ["ViTModel"], "hidden_size": 1e30})");
  EXPECT_TRUE(says(huge, "config.json", "implausibly large"));
  const Result<Model> many = read(R"({"architectures": ["ModernBertModel"],
    "num_hidden_layers": 1000000000})");
  EXPECT_TRUE(says(many, "config.json", "implausibly large"));
}

}  // namespace
}  // namespace headway

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/count.hpp"
#include "model/load.hpp"
#include "model/says_for_test.hpp"

namespace headway {
namespace {

Result<Model> read(const std::string& text) {
  const Result<Document> document = parse_json(text, "config.json");
  if (!document) return document.problems();
  return model_from_config(*document, "test");
}

Model valid(const std::string& text) {
  Result<Model> model = read(text);
  if (!model) {
    for (const Problem& problem : model.problems()) {
      ADD_FAILURE() << where_text(problem) << ": " << problem.message;
    }
    return {};
  }
  return *model;
}

// True if some problem stands at `where` and says `what`.
TEST(LlamaConfig, TakesHeadsForAbsentKeyValueHeadsAndHeadDim) {
  const Model model = valid(R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": null, "head_dim": null, "vocab_size": 32000,
    "some_new_field": {"x": [1, "two"]}, "rope_scaling": null})");
  EXPECT_EQ(model.kinds[0].attention->kv_heads, 32);
  EXPECT_EQ(model.kinds[0].attention->head_dim, 128);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(parameters(model).total, 6'738'415'616);
}

TEST(LlamaConfig, IsKnownByTheNameOfTheFirstConversions) {
  EXPECT_EQ(valid(R"({"architectures": ["LLaMAForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32,
    "vocab_size": 32000})")
                .layers(),
            32);
}

TEST(LlamaConfig, IsKnownByModelTypeWithoutArchitectures) {
  EXPECT_EQ(valid(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
    "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100})")
                .layers(),
            2);
}

TEST(MistralConfig, HasASlidingWindowOnEveryLayer) {
  const Model model = valid(R"({"architectures": ["MistralForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 32000})");
  ASSERT_EQ(model.kinds.size(), 1u);
  EXPECT_EQ(model.kinds[0].attention->window, 4096);
}

TEST(Qwen2Config, HasAWindowOnlyWhereItIsUsedAndFromTheLayerNamed) {
  const std::string text = R"({"architectures": ["Qwen2ForCausalLM"], "hidden_size": 64,
    "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 6,
    "num_key_value_heads": 2, "max_window_layers": 4, "sliding_window": 512, "vocab_size": 100,
    "use_sliding_window": )";
  const Model off = valid(text + "false}");
  ASSERT_EQ(off.kinds.size(), 1u);
  EXPECT_EQ(off.kinds[0].attention->window, 0);
  EXPECT_TRUE(off.kinds[0].attention->qkv_bias);
  EXPECT_FALSE(off.kinds[0].attention->output_bias);
  const Model on = valid(text + "true}");
  ASSERT_EQ(on.kinds.size(), 2u);
  EXPECT_EQ(on.pattern, (std::vector<std::uint8_t>{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(on.kinds[1].attention->window, 512);
}

TEST(QwenMoeConfig, PutsExpertsOnEveryStepOutsideTheDenseOnlyLayers) {
  const Model model = valid(R"({"architectures": ["Qwen2MoeForCausalLM"], "hidden_size": 64,
    "intermediate_size": 100, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 48,
    "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 8, "num_experts": 6,
    "num_experts_per_tok": 2, "decoder_sparse_step": 2, "mlp_only_layers": [3], "vocab_size": 10})");
  ASSERT_EQ(model.kinds.size(), 2u);
  EXPECT_EQ(model.pattern, (std::vector<std::uint8_t>{0, 1, 0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(model.kinds[0].feed_forward->width, 100);
  EXPECT_EQ(model.kinds[1].experts->shared_width, 48);
  EXPECT_TRUE(model.kinds[1].experts->shared_gate);
  // q, k, v with bias and output; router; 6 experts of 3·64·32; shared 3·64·48 and its gate; norms.
  EXPECT_EQ(layer_parameters(model, model.kinds[1]).total(),
            3 * (64 * 64 + 64) + 64 * 64 + 64 * 6 + 6 * 3 * 64 * 32 + 3 * 64 * 48 + 64 + 2 * 64);
}

// transformers 5 writes num_local_experts where releases before wrote num_experts.
TEST(QwenMoeConfig, CountsExpertsUnderEitherName) {
  const std::string text = R"({"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 64,
    "head_dim": 16, "intermediate_size": 100, "moe_intermediate_size": 32,
    "num_attention_heads": 8, "num_key_value_heads": 2, "num_hidden_layers": 2,
    "num_experts_per_tok": 2, "vocab_size": 10, )";
  const Model before = valid(text + R"("num_experts": 6})");
  const Model after = valid(text + R"("num_local_experts": 6})");
  EXPECT_EQ(after.kinds[0].experts->count, 6);
  EXPECT_EQ(parameters(after).total, parameters(before).total);
}

TEST(QwenMoeConfig, LeavesOutTheBiasWhereItSaysSo) {
  const std::string text = R"({"architectures": ["Qwen2MoeForCausalLM"], "hidden_size": 64,
    "moe_intermediate_size": 32, "shared_expert_intermediate_size": 48, "num_attention_heads": 4,
    "num_hidden_layers": 1, "num_experts": 6, "num_experts_per_tok": 2, "vocab_size": 10)";
  EXPECT_TRUE(valid(text + "}").kinds[0].attention->qkv_bias);
  EXPECT_FALSE(valid(text + R"(, "qkv_bias": false})").kinds[0].attention->qkv_bias);
}

TEST(Gemma2Config, AlternatesWindowsAndHasFourNormsAndTiedEmbeddings) {
  const Model model = valid(R"({"architectures": ["Gemma2ForCausalLM"], "hidden_size": 3584,
    "head_dim": 256, "intermediate_size": 14336, "num_attention_heads": 16,
    "num_hidden_layers": 42, "num_key_value_heads": 8, "sliding_window": 4096,
    "hidden_activation": "gelu_pytorch_tanh", "vocab_size": 256000})");
  ASSERT_EQ(model.kinds.size(), 2u);
  EXPECT_EQ(model.kinds[model.pattern[0]].attention->window, 4096);
  EXPECT_EQ(model.kinds[model.pattern[1]].attention->window, 0);
  EXPECT_EQ(model.kinds[0].norms, 4);
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(model.kinds[0].feed_forward->activation, Activation::gelu);
  EXPECT_EQ(parameters(model).total, 9'241'705'984);
}

TEST(Gpt2Config, HasTheDefaultsOfTransformers) {
  const Model model = valid(R"({"architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_head": 12,
    "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})");
  EXPECT_EQ(parameters(model).total, 124'439'808);
  EXPECT_DOUBLE_EQ(model.dropout, 0.1);
  EXPECT_EQ(model.learned_positions, 1024);
}

TEST(NeoxConfig, IsParallelUnlessItSaysOtherwise) {
  const std::string text = R"({"architectures": ["GPTNeoXForCausalLM"], "hidden_size": 512,
    "intermediate_size": 2048, "num_attention_heads": 8, "num_hidden_layers": 6,
    "vocab_size": 50304)";
  EXPECT_TRUE(valid(text + "}").kinds[0].parallel);
  EXPECT_FALSE(valid(text + R"(, "use_parallel_residual": false})").kinds[0].parallel);
}

TEST(OptConfig, HasTwoMorePositionsAndProjectsANarrowEmbedding) {
  const Model model = valid(R"({"architectures": ["OPTForCausalLM"], "hidden_size": 1024,
    "ffn_dim": 4096, "num_attention_heads": 16, "num_hidden_layers": 24, "vocab_size": 50272,
    "max_position_embeddings": 2048, "word_embed_proj_dim": 512, "do_layer_norm_before": false})");
  EXPECT_EQ(model.learned_positions, 2050);
  EXPECT_EQ(model.embedding_width, 512);
  EXPECT_FALSE(model.final_norm);
  EXPECT_EQ(parameters(model).total, 331'196'416);
}

TEST(FalconConfig, SharesOneNormInTheFirstFormAndGroupsHeadsInTheNew) {
  const Model first = valid(R"({"architectures": ["FalconForCausalLM"], "hidden_size": 4544,
    "num_attention_heads": 71, "num_hidden_layers": 32, "vocab_size": 65024})");
  EXPECT_EQ(first.kinds[0].attention->kv_heads, 1);
  EXPECT_EQ(first.kinds[0].norms, 1);
  EXPECT_EQ(parameters(first).total, 6'921'720'704);
  const Model second = valid(R"({"architectures": ["RWForCausalLM"], "hidden_size": 8192,
    "n_head": 128, "n_layer": 60, "n_head_kv": 8, "new_decoder_architecture": true,
    "vocab_size": 65024})");
  EXPECT_EQ(parameters(second).total, 41'303'293'952);
}

TEST(MptConfig, LearnsPositionsOnlyWithoutAlibi) {
  const std::string text = R"({"architectures": ["MPTForCausalLM"], "d_model": 4096,
    "n_heads": 32, "n_layers": 32, "max_seq_len": 2048, "vocab_size": 50368, "no_bias": )";
  EXPECT_EQ(valid(text + R"(true, "attn_config": {"alibi": true}})").learned_positions, 0);
  // The benchmark shape of llm-foundry, counted in its tables.
  EXPECT_EQ(parameters(valid(text + R"(false, "attn_config": {"alibi": false}})")).total,
            6'658'859'008);
}

TEST(DeepseekConfig, StartsDenseAndProjectsQueriesDirectlyWithoutARank) {
  const Model model = valid(R"({"architectures": ["DeepseekV2ForCausalLM"], "hidden_size": 2048,
    "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 64,
    "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
    "num_attention_heads": 16, "num_hidden_layers": 27, "q_lora_rank": null, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400})");
  EXPECT_EQ(model.pattern[0], 0);
  EXPECT_TRUE(model.kinds[0].feed_forward.has_value());
  EXPECT_EQ(model.kinds[1].experts->shared_width, 2816);
  EXPECT_EQ(model.kinds[1].attention->head_dim, 192);
  EXPECT_EQ(model.prediction_layers, 0);
  EXPECT_EQ(parameters(model).total, 15'706'484'224);
}

TEST(GptOssConfig, FollowsItsLayerTypes) {
  const std::string text = R"({"architectures": ["GptOssForCausalLM"], "hidden_size": 2880,
    "head_dim": 64, "intermediate_size": 2880, "num_attention_heads": 64,
    "num_key_value_heads": 8, "num_experts_per_tok": 4, "num_local_experts": 32,
    "sliding_window": 128, "vocab_size": 201088, "num_hidden_layers": 3, "layer_types": )";
  const Model model = valid(text + R"(["full_attention", "sliding_attention", "full_attention"]})");
  EXPECT_EQ(model.pattern, (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(model.kinds[1].attention->window, 128);
  EXPECT_TRUE(says(read(text + R"(["full_attention"]})"), "config.json:4: layer_types",
                   "1 entries for 3 layers"));
  EXPECT_TRUE(says(read(text + R"(["full_attention", "sliding", "full_attention"]})"),
                   "config.json:4: layer_types", "'sliding' is not a known type"));
}

// --- bad input ---------------------------------------------------------------------------------

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
      {"BertForMaskedLM", "bert", "is an encoder;"},
      {"XLMRobertaModel", "xlm-roberta", "is an encoder;"},
      {"T5ForConditionalGeneration", "t5", "is an encoder with a decoder;"},
      {"WhisperForConditionalGeneration", "whisper", "is an encoder with a decoder;"},
      {"MambaForCausalLM", "mamba", "is a recurrent network or one of state spaces;"},
      {"JambaForCausalLM", "jamba", "is attention mixed with state spaces;"},
      {"CLIPModel", "clip", "is a network for images;"},
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

}  // namespace
}  // namespace headway

#include <gtest/gtest.h>

#include <string>

#include "model/count.hpp"
#include "model/reading/config_for_test.hpp"

namespace headway {
namespace {

using testing::config::eight_layers;
using testing::config::read;
using testing::config::valid;

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

// google/gemma-3-4b-it states only these fields of its language model; the rest are the family's.
const char* const kGemma3 = R"({"architectures": ["Gemma3ForConditionalGeneration"],
    "model_type": "gemma3", "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
    "num_hidden_layers": 34, "sliding_window": 1024}, "vision_config": {"hidden_size": 1152}})";

TEST(Gemma3Config, LimitsFiveLayersOfSixAndTakesWhatIsNotStatedFromItsFamily) {
  const Model model = valid(kGemma3);
  ASSERT_EQ(model.kinds.size(), 2u);
  for (std::size_t i = 0; i < 34; ++i) {
    EXPECT_EQ(model.kinds[model.pattern[i]].attention->window, i % 6 == 5 ? 0 : 1024) << i;
  }
  EXPECT_EQ(parameters(model).total, 3'880'263'168);
}

TEST(TextConfig, BesideATowerIsReadAloneAndTheTowersAbsenceIsSaid) {
  const Model gemma = valid(kGemma3);
  ASSERT_EQ(gemma.notes.size(), 1u);
  EXPECT_NE(gemma.notes[0].find("vision tower"), std::string::npos);
  const std::string scout = R"({"architectures": ["Llama4ForConditionalGeneration"],
    "text_config": {"hidden_size": 64, "intermediate_size": 32, "intermediate_size_mlp": 64,
    "num_attention_heads": 4, "num_hidden_layers": 4, "num_experts_per_tok": 1,
    "num_local_experts": 4, "vocab_size": 100})";
  EXPECT_TRUE(valid(scout + "}").notes.empty());
  EXPECT_EQ(valid(scout + R"(, "vision_config": {"image_size": 336}})").notes.size(), 1u);
}

// In what weights lie is told, and known where it is a format that serving has: as published
// configs of Qwen (AWQ, FP8), DeepSeek, gpt-oss, Kimi and NVIDIA's checkpoints write it.
TEST(Config, ThatKeepsWeightsInAFormatIsTold) {
  const std::string llama = R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 64,
    "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100)";
  EXPECT_TRUE(valid(llama + "}").notes.empty());
  EXPECT_TRUE(valid(llama + R"(, "quantization_config": null})").notes.empty());
  const Model model = valid(llama + R"(, "quantization_config": {"quant_method": "awq"}})");
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_NE(model.notes[0].find("awq"), std::string::npos);
  const auto of = [&](const std::string& format) {
    return valid(llama + R"(, "quantization_config": )" + format + "}").weights;
  };
  const auto compressed = [&](const std::string& weights, const std::string& more) {
    return of(
        R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": )" +
        weights + R"(, "input_activations": )" + more + "}}}");
  };
  EXPECT_EQ(model.weights, "int4");
  EXPECT_EQ(of(R"({"quant_method": "gptq", "bits": 8})"), "int8");
  EXPECT_EQ(of(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})"), "fp8-block");
  EXPECT_EQ(of(R"({"quant_method": "fp8"})"), "fp8");
  EXPECT_EQ(of(R"({"quant_method": "mxfp4"})"), "mxfp4");
  EXPECT_EQ(of(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})"), "int8");
  EXPECT_EQ(of(R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})"), "fp4");
  EXPECT_EQ(compressed(R"({"num_bits": 8, "type": "float", "strategy": "channel"})", "{}"), "fp8");
  EXPECT_EQ(compressed(R"({"num_bits": 8, "type": "int"})", "{}"), "int8-full");
  EXPECT_EQ(compressed(R"({"num_bits": 4, "type": "int"})", "null"), "int4");
  EXPECT_EQ(of(R"({"quant_method": "aqlm"})"), "");
  EXPECT_EQ(of(R"({"quant_method": "gptq", "bits": "eight"})"), "");
}

// Of a family whose larger networks tie the language model's embedding from outside.
TEST(TextConfig, FollowsTheTiesOfTheNetworkAroundIt) {
  const std::string text = R"("text_config": {"hidden_size": 64, "intermediate_size": 32,
    "num_attention_heads": 4, "num_hidden_layers": 1, "vocab_size": 100,
    "tie_word_embeddings": false}})";
  const std::string qwen = R"({"architectures": ["Qwen3VLForConditionalGeneration"], )";
  EXPECT_FALSE(valid(qwen + text).tied_embeddings);
  EXPECT_TRUE(valid(qwen + R"("tie_word_embeddings": true, )" + text).tied_embeddings);
}

// For each layer F (full), W (window) or L (linear).
std::string reach(const Model& model) {
  std::string out;
  for (const std::uint8_t kind : model.pattern) {
    const Attention& attention = *model.kinds[kind].attention;
    out += attention.linear ? 'L' : attention.window > 0 ? 'W' : 'F';
  }
  return out;
}

// The rules of transformers' configuration of each family, written out for eight layers.
TEST(Windows, StandOnTheLayersThatEachFamilyLimits) {
  const struct {
    const char* architecture;
    const char* more;
    const char* expected;
  } rows[] = {
      {"Gemma2ForCausalLM", "", "WFWFWFWF"},
      {"Gemma3ForCausalLM", R"(, "sliding_window_pattern": 3)", "WWFWWFWW"},
      {"Olmo3ForCausalLM", "", "WWWFWWWF"},
      {"Cohere2ForCausalLM", "", "WWWFWWWF"},
      {"Cohere2ForCausalLM", R"(, "layer_switch": 2)", "WFWFWFWF"},
      {"Exaone4ForCausalLM", R"(, "sliding_window": 64)", "WWWFWWWF"},
      {"Exaone4ForCausalLM", R"(, "sliding_window": null)", "FFFFFFFF"},
      {"SmolLM3ForCausalLM", R"(, "sliding_window": 64)", "FFFFFFFF"},
      {"SmolLM3ForCausalLM", R"(, "sliding_window": 64, "use_sliding_window": true)", "FFFWFFFW"},
      {"SmolLM3ForCausalLM",
       R"(, "sliding_window": 64, "use_sliding_window": true,
          "no_rope_layers": [1, 0, 1, 1, 1, 1, 1, 1])",
       "FWFFFFFF"},
      {"GPTNeoForCausalLM", R"(, "max_position_embeddings": 64)", "FWFWFWFW"},
      {"GPTNeoForCausalLM",
       R"(, "max_position_embeddings": 64, "attention_types": [[["global"], 3], [["local"], 5]])",
       "FFFWWWWW"},
      {"MistralForCausalLM", R"(, "sliding_window": 64)", "WWWWWWWW"},
      {"LlamaForCausalLM", R"(, "sliding_window": 64)", "FFFFFFFF"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(reach(valid(eight_layers(row.architecture, row.more))), row.expected)
        << row.architecture << row.more;
  }
}

TEST(LinearAttention, StandsOnTheLayersThatEachFamilySays) {
  const std::string experts = R"(, "num_experts": 4, "num_local_experts": 4,
    "num_experts_per_tok": 2, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32)";
  EXPECT_EQ(reach(valid(eight_layers("Qwen3NextForCausalLM", experts))), "LLLFLLLF");
  EXPECT_EQ(reach(valid(eight_layers("MiniMaxForCausalLM", experts))), "FLFLFLFL");
  EXPECT_EQ(reach(valid(eight_layers("MiniMaxText01ForCausalLM",
                                     experts + R"(, "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1])"))),
            "LLLLLLLF");
}

// THUDM/glm-4-9b in its own form: the element count of its weights.
TEST(ChatGlmConfig, HasTheParametersOfItsCheckpoint) {
  EXPECT_EQ(parameters(valid(R"({"architectures": ["ChatGLMModel"], "model_type": "chatglm",
    "add_bias_linear": false, "add_qkv_bias": true, "ffn_hidden_size": 13696, "hidden_size": 4096,
    "kv_channels": 128, "multi_query_attention": true, "multi_query_group_num": 2,
    "num_attention_heads": 32, "num_layers": 40, "padded_vocab_size": 151552, "rmsnorm": true,
    "seq_length": 8192})"))
                .total,
            9'399'951'360);
}

TEST(Heads, FollowTheEndOfTheArchitecture) {
  const auto head = [](const char* ending, const char* more = "") {
    return valid(eight_layers(std::string("Llama") + ending,
                              R"(, "tie_word_embeddings": true)" + std::string(more)));
  };
  const std::int64_t body = parameters(head("ForCausalLM")).total;  // tied: without a head
  EXPECT_EQ(parameters(head("Model")).total, body);
  EXPECT_EQ(parameters(head("ForSequenceClassification")).total, body + 2 * 64);
  EXPECT_EQ(parameters(head("ForSequenceClassification", R"(, "num_labels": 7)")).total,
            body + 7 * 64);
  EXPECT_EQ(
      parameters(head("ForTokenClassification", R"(, "id2label": {"0": "a", "1": "b", "2": "c"})"))
          .total,
      body + 3 * 64 + 3);
  EXPECT_EQ(parameters(head("ForQuestionAnswering")).total, body + 2 * 64 + 2);
  // No product over the vocabulary: 2·64·2 FLOPs a token in place of 2·64·100.
  EXPECT_DOUBLE_EQ((forward_flops(head("ForCausalLM"), 10, AttentionFlops::full) -
                    forward_flops(head("ForSequenceClassification"), 10, AttentionFlops::full))
                       .value(),
                   10 * 2.0 * 64 * (100 - 2));
}

}  // namespace
}  // namespace headway

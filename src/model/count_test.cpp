#include "model/count.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include "model/linear.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

Model built_in(const std::string& name) {
  Result<Model> model = load_model(name);
  EXPECT_TRUE(model.ok()) << name << ": " << (model.ok() ? "" : model.problems().front().message);
  return model.ok() ? *model : Model{};
}

struct Total {
  const char* name;
  std::int64_t parameters;
};

// [MODEL-2] What the published checkpoints hold: the sums of the element counts of their weight
// files, as Hugging Face's model pages and papers give them.
constexpr Total kPublished[] = {
    {"llama-7b", 6'738'415'616},
    {"llama-13b", 13'015'864'320},
    {"llama-30b", 32'528'943'616},
    {"llama-65b", 65'285'660'672},
    {"tinyllama-1.1b", 1'100'048'384},
    {"llama-2-7b", 6'738'415'616},
    {"llama-2-13b", 13'015'864'320},
    {"llama-2-70b", 68'976'648'192},
    {"llama-3-8b", 8'030'261'248},
    {"llama-3-70b", 70'553'706'496},
    {"llama-3.1-405b", 405'853'388'800},
    {"llama-3.2-1b", 1'235'814'400},
    {"llama-3.2-3b", 3'212'749'824},
    {"mistral-7b", 7'241'732'096},
    {"mixtral-8x7b", 46'702'792'704},
    {"mixtral-8x22b", 140'620'634'112},
    {"gpt2", 124'439'808},
    {"gpt2-medium", 354'823'168},
    {"gpt2-large", 774'030'080},
    {"gpt2-xl", 1'557'611'200},
    {"qwen2-7b", 7'615'616'512},
    {"qwen2.5-0.5b", 494'032'768},
    {"qwen2.5-1.5b", 1'543'714'304},
    {"qwen2.5-32b", 32'763'876'352},
    {"qwen2.5-72b", 72'706'203'648},
    {"qwen3-8b", 8'190'735'360},
    {"qwen3-32b", 32'762'123'264},
    {"qwen3-30b-a3b", 30'532'122'624},
    {"qwen3-235b-a22b", 235'093'634'560},
    {"qwen1.5-moe-a2.7b", 14'315'784'192},
    {"gemma-2b", 2'506'172'416},
    {"gemma-7b", 8'537'680'896},
    {"gemma-2-9b", 9'241'705'984},
    {"gemma-2-27b", 27'227'128'320},
    {"phi-3-mini", 3'821'079'552},
    {"pythia-70m", 70'426'624},
    {"pythia-160m", 162'322'944},
    {"pythia-410m", 405'334'016},
    {"pythia-1.4b", 1'414'647'808},
    {"pythia-6.9b", 6'857'302'016},
    {"pythia-12b", 11'846'072'320},
    {"opt-125m", 125'239'296},
    {"opt-350m", 331'196'416},
    {"opt-6.7b", 6'658'473'984},
    {"falcon-7b", 6'921'720'704},
    {"falcon-40b", 41'303'293'952},
    {"mpt-7b", 6'649'286'656},
    {"starcoder2-3b", 3'030'371'328},
    {"starcoder2-7b", 7'173'923'840},
    {"starcoder2-15b", 15'957'889'024},
    {"deepseek-v2-lite", 15'706'484'224},
    {"deepseek-v2", 235'741'434'880},
    {"deepseek-v3", 671'026'419'200},
    {"gpt-oss-20b", 20'914'757'184},
    {"gpt-oss-120b", 116'829'156'672},
    {"bloom-176b", 176'247'271'424},
    {"bloom-7b1", 7'069'016'064},
    {"gpt-j-6b", 6'050'882'784},
    {"falcon-180b", 179'522'565'120},
    {"qwen1.5-7b", 7'721'324'544},
    {"minimax-m2", 228'689'764'864},
    {"minimax-m2.5", 228'689'764'864},
    {"glm-4.5", 352'797'829'024},
    {"glm-4.5-air", 106'852'251'264},
};

TEST(Parameters, EqualThoseOfThePublishedCheckpoints) {
  for (const Total& row : kPublished) {
    EXPECT_EQ(parameters(built_in(row.name)).total, row.parameters) << row.name;
  }
}

// Narayanan et al., arXiv 2104.04473 table 1, and the others as their papers round them (1e9).
TEST(Parameters, RoundToThoseOfPapersWithoutACheckpoint) {
  const struct {
    const char* name;
    double billions;
    double within;
  } rows[] = {
      {"megatron-1.7b", 1.7, 0.05},
      {"megatron-3.6b", 3.6, 0.05},
      {"megatron-7.5b", 7.5, 0.05},
      {"megatron-18b", 18.4, 0.06},
      {"megatron-39b", 39.1, 0.05},
      {"megatron-76b", 76.1, 0.06},
      {"megatron-145b", 145.6, 0.05},
      {"megatron-310b", 310.1, 0.05},
      {"megatron-530b", 529.6, 0.05},
      {"megatron-1t", 1008.0, 0.05},
      {"megatron-22b", 22, 0.5},
      {"mt-nlg-530b", 530, 0.5},
      {"gpt3-175b", 175, 0.5},
      {"palm-540b", 540.35, 0.05},
      {"turing-nlg-17b", 17, 0.5},
      {"nemotron-4-340b", 341, 0.5},
      {"gpt-neox-19m", 0.0704, 5e-5},
      {"gpt-neox-125m", 0.1623, 5e-5},
      {"gpt-neox-1.3b", 1.4147, 1e-4},
      {"gpt-neox-13b", 13.1007, 1e-4},
      {"grok-1", 314, 2},
      {"kimi-k2", 1026, 1},
      {"kimi-k2.5", 1026, 1},
      {"qwen3-coder-480b-a35b", 480, 0.5},
      {"qwen3.5-397b-a17b", 397, 1},
      {"gpt3-350m", 0.355, 0.003},
      {"gpt-89b", 88, 1.5},
  };
  for (const auto& row : rows) {
    const auto total = static_cast<double>(parameters(built_in(row.name)).total);
    EXPECT_NEAR(total / 1e9, row.billions, row.within) << row.name;
  }
}

// llm-foundry's benchmark tables count 12·L·d²+13·L·d+2·d in the layers and the final norm, the
// vocabulary and a position table (training.csv of the corpus, sequence 2048).
TEST(Parameters, OfTheMptBenchmarkShapesEqualItsTables) {
  EXPECT_EQ(parameters(built_in("mpt-1b")).total, 1'315'950'592);
  EXPECT_EQ(parameters(built_in("mpt-3b")).total, 2'651'837'440);
  EXPECT_EQ(parameters(built_in("mosaicgpt-7b")).total, 6'658'859'008);
  EXPECT_EQ(parameters(built_in("mpt-13b")).total, 12'853'954'560);
  EXPECT_EQ(parameters(built_in("mosaicgpt-30b")).total, 29'975'214'080);
  EXPECT_EQ(parameters(built_in("mpt-70b")).total, 64'862'437'376);
}

// Erdil and Schneider-Joseph: N = 2·d_model·d_ff·L, nothing else.
TEST(Parameters, OfTheLimitsStackAreItsMatricesAlone) {
  const Parameters count = parameters(built_in("limits-mlp-12288"));
  EXPECT_EQ(count.total, 2LL * 12288 * 49152 * 192);
  EXPECT_EQ(count.layers, count.total);
}

// Published active counts, in 1e9: Mixtral papers 12.9 and 39; DeepSeek-V3 36.6 without the input
// embedding (129280·7168 values); DeepSeek-V2 21; Qwen3 model pages 3.3 and 22; GPT-OSS model card
// 5.13 and 3.61 without the input embedding (201088·2880); Llama 4 17.
TEST(ActiveParameters, OfMixturesAgreeWithThePublishedOnes) {
  const struct {
    const char* name;
    double billions;
    double without_embedding;
    double within;
  } rows[] = {
      {"mixtral-8x7b", 12.9, 0, 0.05},
      {"mixtral-8x22b", 39.1, 0, 0.1},
      {"deepseek-v3", 36.6, 129280.0 * 7168, 0.05},
      {"deepseek-v2", 21, 0, 0.5},
      {"qwen3-30b-a3b", 3.3, 0, 0.06},
      {"qwen3-235b-a22b", 22, 0, 0.5},
      {"qwen1.5-moe-a2.7b", 2.7, 0, 0.05},
      {"gpt-oss-120b", 5.13, 201088.0 * 2880, 0.01},
      {"gpt-oss-20b", 3.61, 201088.0 * 2880, 0.01},
      {"llama-4-scout", 17, 0, 0.5},
      {"llama-4-maverick", 17, 0, 0.5},
      {"kimi-k2", 32, 163840.0 * 7168, 0.5},
      {"minimax-m2", 10, 200064.0 * 3072, 0.5},
      {"qwen3-coder-480b-a35b", 35, 0, 0.6},
      {"qwen3.5-397b-a17b", 17, 0, 0.6},
      {"glm-4.5", 32, 151552.0 * 5120, 1},
      {"glm-4.5-air", 12, 151552.0 * 4096, 1},
  };
  for (const auto& row : rows) {
    const auto active = static_cast<double>(parameters(built_in(row.name)).active);
    EXPECT_NEAR((active - row.without_embedding) / 1e9, row.billions, row.within) << row.name;
  }
}

TEST(ActiveParameters, AreAllOfADenseModel) {
  for (const char* name : {"llama-2-7b", "gpt2", "palm-540b", "falcon-40b"}) {
    const Parameters count = parameters(built_in(name));
    EXPECT_EQ(count.active, count.total) << name;
  }
}

TEST(Parameters, OfAPredictionModuleStandBesideTheTotal) {
  // DeepSeek-V3's README of its weights: 11.5 B in the module without the shared embedding and
  // head. One sparse layer, 2·7168² and three norms:
  // queries 7168→1536→128·192, down 7168→576, up 512→128·256, output 128·128→7168; norms of the
  // ranks; 257 experts of 3·7168·2048; router 256·7168 + 256; two norms of the layer.
  const std::int64_t attention =
      7168LL * 1536 + 1536LL * 24576 + 7168LL * 576 + 512LL * 32768 + 16384LL * 7168 + 1536 + 512;
  const std::int64_t layer = attention + 257LL * 3 * 7168 * 2048 + 256LL * 7168 + 256 + 2LL * 7168;
  const Parameters count = parameters(built_in("deepseek-v3"));
  EXPECT_EQ(count.prediction, layer + 2LL * 7168 * 7168 + 3LL * 7168);
  EXPECT_EQ(count.total, count.embedding + count.layers + count.head + count.other);
}

TEST(LayerParameters, SplitByWhereTensorParallelismPutsThem) {
  // GPT-2, h = 768: matrices 12·h²; column biases 3h + 4h are split with them, row biases h + h
  // and two norms of 2h are whole on each rank.
  const Model model = built_in("gpt2");
  const LayerParameters layer = layer_parameters(model, model.kinds[0]);
  EXPECT_EQ(layer.split, 12LL * 768 * 768 + 7 * 768);
  EXPECT_EQ(layer.replicated, 6 * 768);
  EXPECT_EQ(layer.experts, 0);
}

// --- FLOPs -------------------------------------------------------------------------------------

// [MODEL-1] [MODEL-3] Narayanan et al., arXiv 2104.04473 appendix: forward FLOPs of a GPT with
// full attention are 24·B·s·l·h² + 4·B·s²·l·h + 2·B·s·h·V.
TEST(ForwardFlops, OfAGptEqualTheClosedFormOfMegatron) {
  const Model model = built_in("megatron-22b");
  const double s = 2048, l = 48, h = 6144, v = 51200;
  const double expected = 24 * s * l * h * h + 4 * s * s * l * h + 2 * s * h * v;
  EXPECT_DOUBLE_EQ(forward_flops(model, 2048, AttentionFlops::full).value(), expected);
}

TEST(ForwardFlops, CountTheMatricesOfEachActiveExpertAndTheRouter) {
  // Mixtral 8x7B at s tokens: attention 4096·(4096+2·1024) and 4096², two experts of 3·4096·14336,
  // router 4096·8; scores 4·4096 a token and key; head 4096·32000.
  const double s = 1024;
  const double layer =
      2.0 * (4096.0 * 6144 + 4096.0 * 4096 + 2 * 3 * 4096.0 * 14336 + 4096 * 8) + 4.0 * 4096 * s;
  const double expected = s * (32 * layer + 2 * 4096.0 * 32000);
  EXPECT_DOUBLE_EQ(forward_flops(built_in("mixtral-8x7b"), 1024, AttentionFlops::full).value(),
                   expected);
}

TEST(ForwardFlops, OfLatentAttentionUseItsOwnWidths) {
  // DeepSeek-V2-Lite, a dense first layer: queries 2048→16·192, down 2048→576, up 512→16·256,
  // output 16·128→2048, gated 3·2048·10944; scores 2·(192+128)·16 a token and key.
  const Model model = built_in("deepseek-v2-lite");
  const double matrices =
      2048.0 * 3072 + 2048.0 * 576 + 512.0 * 4096 + 2048.0 * 2048 + 3 * 2048.0 * 10944;
  const double expected = 100 * (2 * matrices + 2.0 * 320 * 16 * 100);
  EXPECT_DOUBLE_EQ(
      layer_forward_flops(model, model.kinds[model.pattern[0]], 100, AttentionFlops::full).value(),
      expected);
}

TEST(ForwardFlops, OfAPredictionModuleAddALayerAProjectionAndAHead) {
  const Model with = built_in("deepseek-v3");
  Model without = with;
  without.prediction_layers = 0;
  const double s = 4096;
  const double extra =
      layer_forward_flops(with, with.kinds[with.pattern.back()], 4096, AttentionFlops::causal)
          .value() +
      s * (2 * 2.0 * 7168 * 7168 + 2.0 * 7168 * 129280);
  EXPECT_NEAR(forward_flops(with, 4096, AttentionFlops::causal).value() -
                  forward_flops(without, 4096, AttentionFlops::causal).value(),
              extra, extra * 1e-9);
}

TEST(ForwardFlops, OfANarrowEmbeddingPassItsProjections) {
  // OPT-350M: 512→1024 before and 1024→512 after the layers, head 512·50272.
  const Model model = built_in("opt-350m");
  Model no_layers = model;
  no_layers.pattern.clear();
  EXPECT_DOUBLE_EQ(forward_flops(no_layers, 10, AttentionFlops::full).value(),
                   10 * (2 * 2.0 * 512 * 1024 + 2.0 * 512 * 50272));
}

// [MODEL-5]
TEST(SixN, CountsActiveParameters) {
  EXPECT_DOUBLE_EQ(six_n_flops(built_in("gpt2"), 1000).value(), 6.0 * 124'439'808 * 1000);
  EXPECT_DOUBLE_EQ(six_n_flops(built_in("mixtral-8x7b"), 10).value(), 6.0 * 12'879'925'248 * 10);
}

Model linear_model(LinearForm form, std::int64_t convolution) {
  Attention attention;
  attention.heads = 8;
  attention.kv_heads = 4;
  attention.head_dim = 16;
  attention.value_dim = 24;
  attention.linear = LinearAttention{.form = form, .convolution = convolution};
  Layer layer;
  layer.attention = attention;
  Model model;
  model.hidden = 64;
  layer.feed_forward = FeedForward{.width = 100};
  model.kinds = {layer};
  model.pattern = {0};
  return model;
}

// [MODEL-6] Written out for 8 heads of values of 24 and 4 of queries and keys of 16: the state of a
// head, 16·24, is written and read (2·2·16·24), by the delta rule read once more; the convolution
// of 4 taps on 2·4·16 + 8·24 = 320 channels.
TEST(ForwardFlops, OfLinearAttentionDoNotGrowWithTheSequence) {
  const auto flops = [](const Model& model, std::int64_t sequence) {
    double matrices = 0;
    for (const Linear& linear : linears(model.kinds[0], model.hidden)) {
      matrices += linear.flops_per_token();
    }
    return layer_forward_flops(model, model.kinds[0], sequence, AttentionFlops::full).value() /
               static_cast<double>(sequence) -
           matrices;
  };
  for (const std::int64_t sequence : {100, 1'000'000}) {
    EXPECT_DOUBLE_EQ(flops(linear_model(LinearForm::decay, 0), sequence), 8 * 4.0 * 16 * 24);
    EXPECT_NEAR(flops(linear_model(LinearForm::delta_rule, 4), sequence),
                8 * 6.0 * 16 * 24 + 2 * 4 * 320, 1e-6);
  }
}

// Gates: queries and keys of 4·16 each, values and the gate of 8·24 each, by the delta rule two
// scalars a head; result 8·24. Beside them norms (of one head, of all), taps, two vectors of 8.
TEST(LayerParameters, OfLinearAttentionAreItsProductsAndVectors) {
  const std::int64_t rest = 2 * 64 + 2 * 64 * 100;  // two norms, the feed-forward part
  const Model decay = linear_model(LinearForm::decay, 0);
  EXPECT_EQ(layer_parameters(decay, decay.kinds[0]).total(),
            64 * (2 * 64 + 2 * 192) + 192 * 64 + 192 + rest);
  const Model delta = linear_model(LinearForm::delta_rule, 4);
  EXPECT_EQ(layer_parameters(delta, delta.kinds[0]).total(),
            64 * (2 * 64 + 2 * 192 + 16) + 192 * 64 + 24 + 4 * 320 + 16 + rest);
}

// [MODEL-4]
TEST(MeanKeys, AreTheSequenceTheWindowOrTheCausalHalf) {
  EXPECT_DOUBLE_EQ(mean_keys(2048, 0, AttentionFlops::full), 2048);
  EXPECT_DOUBLE_EQ(mean_keys(2048, 0, AttentionFlops::causal), 1024);
  EXPECT_DOUBLE_EQ(mean_keys(2048, 512, AttentionFlops::full), 512);
  EXPECT_DOUBLE_EQ(mean_keys(2048, 8192, AttentionFlops::causal), 1024);
  // A band of 512 below the diagonal of 2048: (512·2048 − 512²/2) / 2048.
  EXPECT_DOUBLE_EQ(mean_keys(2048, 512, AttentionFlops::causal), 448);
}

RC_GTEST_PROP(MeanKeys, CausalLiesBetweenHalfAndAllOfFull, ()) {
  const auto sequence = *rc::gen::inRange<std::int64_t>(1, 1'000'000);
  const auto window = *rc::gen::inRange<std::int64_t>(0, 2'000'000);
  const double full = mean_keys(sequence, window, AttentionFlops::full);
  const double causal = mean_keys(sequence, window, AttentionFlops::causal);
  RC_ASSERT(causal >= full / 2 - 1e-9);
  RC_ASSERT(causal <= full);
}

Model random_model() {
  Model model;
  Layer layer;
  Attention attention;
  attention.heads = *rc::gen::inRange<std::int64_t>(1, 64);
  attention.kv_heads = attention.heads;
  attention.head_dim = attention.value_dim = *rc::gen::inRange<std::int64_t>(1, 256);
  attention.qkv_bias = *rc::gen::arbitrary<bool>();
  layer.attention = attention;
  FeedForward part;
  part.width = *rc::gen::inRange<std::int64_t>(1, 60'000);
  part.gated = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) {
    Experts experts;
    experts.count = *rc::gen::inRange<std::int64_t>(1, 256);
    experts.active = *rc::gen::inRange<std::int64_t>(1, experts.count + 1);
    experts.each = part;
    layer.experts = experts;
  } else {
    layer.feed_forward = part;
  }
  model.hidden = *rc::gen::inRange<std::int64_t>(1, 30'000);
  model.vocabulary = *rc::gen::inRange<std::int64_t>(0, 300'000);
  model.tied_embeddings = *rc::gen::arbitrary<bool>();
  model.kinds = {layer};
  model.pattern.assign(*rc::gen::inRange<std::size_t>(1, 200), 0);
  return model;
}

RC_GTEST_PROP(Parameters, GrowWithWidthDepthAndVocabulary, ()) {
  const Model model = random_model();
  const Parameters count = parameters(model);
  RC_ASSERT(count.active <= count.total);
  RC_ASSERT(count.total == count.embedding + count.layers + count.head + count.other);
  Model wider = model;
  ++wider.hidden;
  RC_ASSERT(parameters(wider).total > count.total);
  Model deeper = model;
  deeper.pattern.push_back(0);
  RC_ASSERT(parameters(deeper).total > count.total);
  Model wordier = model;
  ++wordier.vocabulary;
  RC_ASSERT(parameters(wordier).total > count.total);
}

// Each weight of a matrix is used once a token: without scores, FLOPs are 2·(active matrices), so
// between one sequence length and the next only scores grow faster than the tokens.
RC_GTEST_PROP(ForwardFlops, AreTwoForEachActiveMatrixValueAndTokenPlusScores, ()) {
  const Model model = random_model();
  const auto s = *rc::gen::inRange<std::int64_t>(1, 100'000);
  double matrices = static_cast<double>(model.hidden * model.vocabulary);
  for (const Linear& linear : linears(model.kinds[0], model.hidden)) {
    const double copies =
        is_expert(linear.role) ? static_cast<double>(model.kinds[0].experts->active) : 1;
    matrices += static_cast<double>(model.layers()) * copies *
                static_cast<double>(linear.weights() - (linear.bias ? linear.out : 0));
  }
  const Attention& attention = *model.kinds[0].attention;
  const auto tokens = static_cast<double>(s);
  const double scores = 4.0 * static_cast<double>(attention.heads * attention.head_dim) * tokens *
                        tokens * static_cast<double>(model.layers());
  const double expected = 2 * matrices * tokens + scores;
  RC_ASSERT(std::abs(forward_flops(model, s, AttentionFlops::full).value() - expected) <=
            1e-9 * expected);
}

// [MODEL-1] [MODEL-2] [MODEL-7] Of each of 61 layers: queries 1536→64·128, key 7168→128 with a
// layer norm, weights 7168→64.
TEST(Parameters, OfAnIndexerAreThoseOfItsThreeMatricesAndANorm) {
  const std::int64_t each = 1536LL * 64 * 128 + 7168 * 128 + 7168 * 64 + 2 * 128;
  EXPECT_EQ(parameters(built_in("deepseek-v3.2")).total - parameters(built_in("deepseek-v3")).total,
            61 * each);
  // z.ai's own count (github.com/zai-org/GLM-5): 744 B, 40 B active.
  const Parameters glm = parameters(built_in("glm-5"));
  EXPECT_NEAR(static_cast<double>(glm.total), 744e9, 1e9);
  EXPECT_NEAR(static_cast<double>(glm.active), 40e9, 2e9);
}

// [MODEL-7] A token of a sequence of 8,192 is scored against all its keys by 64 heads of 128, and
// 128 heads of 192 and 128 see 2,048 of them.
TEST(ForwardFlops, OfAnIndexerAreScoresOfAllKeysAndAttentionOverThoseThatAreKept) {
  const Model sparse = built_in("deepseek-v3.2");
  Model dense = sparse;
  for (Layer& layer : dense.kinds) layer.attention->indexer->keep = 1'000'000;
  const auto flops = [](const Model& model, std::int64_t sequence) {
    return layer_forward_flops(model, model.kinds.back(), sequence, AttentionFlops::full).value();
  };
  EXPECT_NEAR(flops(dense, 8192) - flops(sparse, 8192),
              8192 * 2.0 * (192 + 128) * 128 * (8192 - 2048), 1e6);
  EXPECT_EQ(flops(dense, 2048), flops(sparse, 2048));
  for (Layer& layer : dense.kinds) layer.attention->indexer.reset();
  const double products = 2.0 * (1536 * 8192 + 7168 * 192);
  EXPECT_NEAR(flops(sparse, 1024) - flops(dense, 1024), 1024 * (products + 2.0 * 64 * 128 * 1024),
              1e3);
}

TEST(Linears, AreSplitAsMegatronDoes) {
  const Model model = built_in("deepseek-v3.2");
  for (const Layer& kind : model.kinds) {
    for (const Linear& linear : linears(kind, model.hidden)) {
      switch (linear.role) {
        case Role::query_key_value:
        case Role::query_up:
        case Role::key_value_up:
        case Role::feed_forward_up:
        case Role::shared_up:
        case Role::expert_up:
          EXPECT_EQ(linear.split, Split::column);
          break;
        case Role::attention_output:
        case Role::feed_forward_down:
        case Role::shared_down:
        case Role::expert_down:
          EXPECT_EQ(linear.split, Split::row);
          EXPECT_EQ(linear.out, model.hidden);
          break;
        default:
          EXPECT_EQ(linear.split, Split::replicated);
      }
    }
  }
}

}  // namespace
}  // namespace headway

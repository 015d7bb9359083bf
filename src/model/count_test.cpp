// What is held: [MODEL-2].
#include "model/count.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include "model/linear.hpp"
#include "model/model_for_test.hpp"

namespace headway {
namespace {

using testing::built_in;
using testing::random_model;

struct Total {
  const char* name;
  std::int64_t parameters;
};

// [MODEL-2] What the published checkpoints hold: the sums of the element counts of their weight
// files, as Hugging Face's model pages and papers give them; a tied head counts once, where files
// hold it again (qwen3-0.6b, qwen3-1.7b, qwen1.5-0.5b), and modules of prediction do not.
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
    {"qwen2-0.5b", 494'032'768},
    {"qwen2-1.5b", 1'543'714'304},
    {"qwen2.5-3b", 3'085'938'688},
    {"qwen2-57b-a14b", 57'408'658'944},
    {"qwen1.5-0.5b", 463'987'712},
    {"qwen1.5-1.8b", 1'836'828'672},
    {"qwen1.5-4b", 3'950'369'280},
    {"qwen1.5-14b", 14'167'290'880},
    {"qwen1.5-32b", 32'512'218'112},
    {"qwen1.5-72b", 72'287'920'128},
    {"qwen1.5-110b", 111'209'914'368},
    {"qwen3-0.6b", 596'049'920},
    {"qwen3-1.7b", 1'720'574'976},
    {"qwen3-4b", 4'022'468'096},
    {"qwen3-next-80b-a3b", 79'674'391'296},
    {"gemma-3-1b", 999'885'952},
    {"mistral-nemo-12b", 12'247'782'400},
    {"mistral-small-22b", 22'247'282'688},
    {"mistral-small-24b", 23'572'403'200},
    {"mistral-large-123b", 122'610'069'504},
    {"ministral-8b", 8'019'808'256},
    {"codestral-22b", 22'247'282'688},
    {"yi-6b", 6'061'035'520},
    {"yi-9b", 8'829'407'232},
    {"yi-34b", 34'388'917'248},
    {"codellama-7b", 6'738'546'688},
    {"codellama-13b", 13'016'028'160},
    {"codellama-34b", 33'743'970'304},
    {"codellama-70b", 68'976'910'336},
    {"deepseek-llm-7b", 6'910'365'696},
    {"deepseek-llm-67b", 67'425'001'472},
    {"deepseek-coder-6.7b", 6'740'512'768},
    {"deepseek-coder-33b", 33'342'991'360},
    {"solar-10.7b", 10'731'524'096},
    {"falcon3-7b", 7'455'550'464},
    {"falcon3-10b", 10'305'653'760},
    {"smollm2-1.7b", 1'711'376'384},
    {"internlm2-7b", 7'737'708'544},
    {"internlm2-20b", 19'861'149'696},
    {"internlm2.5-7b", 7'737'708'544},
    {"baichuan-7b", 7'000'559'616},
    {"baichuan-13b", 13'264'901'120},
    {"baichuan2-7b", 7'505'973'248},
    {"baichuan2-13b", 13'896'668'160},
    {"exaone-3.5-7.8b", 7'818'448'896},
    {"exaone-3.5-32b", 32'003'200'000},
    {"chatglm2-6b", 6'243'584'000},
    {"chatglm3-6b", 6'243'584'000},
    {"glm-4-9b", 9'399'951'360},
    {"glm-4-32b", 32'566'081'536},
    {"phi-1.5", 1'418'270'720},
    {"phi-2", 2'779'683'840},
    {"phi-3.5-mini", 3'821'079'552},
    {"phi-4", 14'659'507'200},
    {"phi-4-mini", 3'836'021'760},
    {"phi-3.5-moe", 41'873'153'344},
    {"command-r", 34'980'831'232},
    {"command-r-08-2024", 32'296'476'672},
    {"command-r-plus", 103'810'674'688},
    {"aya-expanse-8b", 8'028'033'024},
    {"aya-expanse-32b", 32'296'476'672},
    {"command-r7b", 8'028'033'024},
    {"dbrx", 131'596'523'520},
    {"stablelm-2-1.6b", 1'644'515'328},
    {"stablelm-2-12b", 12'143'185'920},
    {"starcoder-15b", 15'517'456'384},
    {"santacoder-1.1b", 1'124'886'528},
    {"bloom-560m", 559'214'592},
    {"bloom-1b7", 1'722'408'960},
    {"bloom-3b", 3'002'557'440},
    {"olmo-7b", 6'888'095'744},
    {"olmo-2-7b", 7'298'617'344},
    {"olmo-2-13b", 13'716'198'400},
    {"granite-3.1-8b", 8'170'848'256},
    {"hunyuan-a13b", 80'393'183'232},
    {"ernie-4.5-21b-a3b", 21'825'437'888},
    {"seed-oss-36b", 36'151'104'512},
    {"jamba-1.5-mini", 51'570'323'328},
    {"ling-mini-2.0", 16'255'643'392},
    {"ling-flash-2.0", 102'889'705'216},
    {"ling-1t", 999'705'328'640},
    {"grok-2", 269'515'497'472},
};

TEST(Parameters, EqualThoseOfThePublishedCheckpoints) {
  for (const Total& row : kPublished) {
    EXPECT_EQ(parameters(built_in(row.name)).total, row.parameters) << row.name;
  }
}

// Narayanan et al., arXiv 2104.04473 table 1, and the others as their papers round them (1e9);
// Gemma 3 without its vision part (arXiv 2503.19786 table 1, embedding and the rest).
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
      {"gemma-3-4b", 3.884, 0.01},
      {"gemma-3-12b", 11.771, 0.01},
      {"gemma-3-27b", 27.016, 0.01},
      {"internlm-7b", 7, 0.5},
      {"internlm-20b", 20, 0.5},
      {"aquila-7b", 7, 0.5},
      {"falcon-11b", 11, 0.5},
      {"jamba-1.5-large", 398, 1},
      {"ernie-4.5-300b-a47b", 300, 1.5},
      {"arctic", 480, 2},
      {"nemo-minitron-8b", 8.4, 0.05},
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
      {"qwen2-57b-a14b", 14, 0, 0.5},
      {"qwen3-next-80b-a3b", 3, 151936.0 * 2048, 0.6},
      {"phi-3.5-moe", 6.6, 0, 0.05},
      {"dbrx", 36, 0, 0.5},
      {"jamba-1.5-mini", 12, 0, 0.2},
      {"jamba-1.5-large", 94, 0, 0.2},
      {"hunyuan-a13b", 13, 0, 0.5},
      {"ernie-4.5-21b-a3b", 3, 103424.0 * 2560, 0.1},
      {"ernie-4.5-300b-a47b", 47, 0, 0.1},
      {"ling-mini-2.0", 1.4, 0, 0.05},
      {"ling-flash-2.0", 6.1, 0, 0.06},
      {"ling-1t", 50, 157184.0 * 8192, 0.5},
      {"grok-2", 115, 0, 0.2},
      {"arctic", 17, 0, 0.5},
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

// Files that hold the module as well.
TEST(Parameters, WithTheirPredictionModuleEqualThoseOfThePublishedCheckpoints) {
  constexpr Total kBoth[] = {
      {"glm-4.6", 356'785'898'816},
      {"mimo-7b", 7'833'409'536},
  };
  for (const Total& row : kBoth) {
    const Parameters count = parameters(built_in(row.name));
    EXPECT_EQ(count.total + count.prediction, row.parameters) << row.name;
  }
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

// Steps of networks with linear attention, with gates, with heads of their own kind.
#include <gtest/gtest.h>

#include "model/linear.hpp"
#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

// Two layers of softmax attention among six of linear attention.
Model mixed(const std::string& more = "",
            const std::string& architecture = "Qwen3NextForCausalLM") {
  const Result<Document> config = parse_json(R"({"architectures": [")" + architecture +
                                                 R"("], "hidden_size": 512, "head_dim": 64,
    "num_attention_heads": 8, "num_key_value_heads": 4, "num_hidden_layers": 8,
    "intermediate_size": 1024, "vocab_size": 1024, "num_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 128, "shared_expert_intermediate_size": 128,
    "linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 64,
    "linear_value_head_dim": 64)" + more + "}",
                                             "config.json");
  return model_from_config(*config, "mixed").value();
}

Case mixed_case(const Model& model) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.model = model;
  c.job.framework = framework_from("fsdp").value();  // does not pad the vocabulary
  return c;
}

// What all ranks hold of one copy is the model.
double held(const Case& c) {
  double out = 0;
  for (const StageClass& stage : c.lowered().stages) {
    out += static_cast<double>(stage.stages) * stage.parameters;
  }
  return out;
}

TEST(LinearAttention, HoldsTheParametersOfTheModel) {
  const Model model = mixed();
  EXPECT_DOUBLE_EQ(held(mixed_case(model)), static_cast<double>(parameters(model).total));
}

// Every product of the step is three times the forward pass of the matrices; the core stands apart.
TEST(LinearAttention, ProductsOverAllRanksAreThreeTimesTheForwardPass) {
  for (const std::int64_t tp : {1, 2, 4}) {
    Case c = mixed_case(mixed());
    c.layout.tp = tp;
    expect_legal(c);
    double matrices = 2.0 * 512 * 1024;  // the head
    for (const std::uint8_t kind : c.model.pattern) {
      for (const Linear& linear : linears(c.model.kinds[kind], c.model.hidden)) {
        matrices += (is_expert(linear.role) ? 2 : 1) * linear.flops_per_token();
      }
    }
    const double products = sum_over_ranks(c, c.lowered(), [](const Op& op) {
      return is_product(op) && !op.routed ? work(op).value() : 0;
    });
    double routed = 0;  // in whole tokens an expert
    for (const std::uint8_t kind : c.model.pattern) {
      for (const Linear& linear : linears(c.model.kinds[kind], c.model.hidden)) {
        if (is_expert(linear.role)) routed += 2 * linear.flops_per_token();
      }
    }
    // Router and shared gate run on each tensor rank; they are small.
    EXPECT_NEAR(products / (3 * 2048 * (matrices - routed)), 1, tp == 1 ? 1e-12 : 0.02) << tp;
  }
}

// [STEP-23] For d = e = 64 and the delta rule: 32 + 64 + 16 + 32 + 32 = 176 keys a query, six
// layers of 8 heads.
TEST(LinearAttention, TakesTheWorkOfItsChunks) {
  Case c = mixed_case(mixed());
  c.job.sequence = 176 * 16;
  const double forward = sum_over_ranks(c, c.lowered(), [](const Op& op) {
    const auto* core = std::get_if<AttentionShape>(&op.shape);
    return core != nullptr && !core->causal && op.phase == Phase::forward ? work(op).value() : 0;
  });
  EXPECT_DOUBLE_EQ(forward, 6 * 8 * 176.0 * 16 * 176 * 2 * (64 + 64));
}

TEST(LinearAttention, CostsTheSameATokenHoweverLongTheSequence) {
  const auto core = [](std::int64_t sequence) {
    Case c = mixed_case(mixed());
    c.job.sequence = sequence;
    return sum_over_ranks(c, c.lowered(),
                          [](const Op& op) {
                            const auto* shape = std::get_if<AttentionShape>(&op.shape);
                            return shape != nullptr && !shape->causal ? work(op).value() : 0;
                          }) /
           static_cast<double>(sequence);
  };
  EXPECT_DOUBLE_EQ(core(176 * 8), core(176 * 800));
}

TEST(LinearAttention, IsNotSplitOverContextRanks) {
  Case c = mixed_case(mixed());
  c.layout.cp = 2;
  const Problems problems = check(c);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems.front().kind, Trouble::unsupported);
}

TEST(AttentionGate, AddsItsProductAndItsPass) {
  Case gated = mixed_case(mixed());
  Case plain = gated;
  for (Layer& layer : plain.model.kinds) layer.attention->gated = false;
  const auto products = [](const Case& c) {
    return sum_over_ranks(c, c.lowered(),
                          [](const Op& op) { return is_product(op) ? work(op).value() : 0; });
  };
  // Two layers of softmax attention: 512 x 8·64, three times, for each token.
  EXPECT_NEAR(products(gated) - products(plain), 2 * 3 * 2.0 * 512 * 512 * 2048, 1e-3);
  EXPECT_DOUBLE_EQ(held(gated) - held(plain), 2.0 * 512 * 512);
}

// A classifier has no product over the vocabulary and holds its labels' columns.
TEST(Labels, TakeThePlaceOfTheVocabularyInTheHead) {
  const Model classifier = mixed(R"(, "num_labels": 16)", "Qwen3NextForSequenceClassification");
  const Model headless = mixed("", "Qwen3NextModel");
  for (const Model& model : {classifier, headless}) {
    const Case c = mixed_case(model);
    expect_legal(c);
    EXPECT_DOUBLE_EQ(held(c), static_cast<double>(parameters(model).total));
  }
  const auto products = [](const Model& model) {
    const Case c = mixed_case(model);
    return sum_over_ranks(c, c.lowered(),
                          [](const Op& op) { return is_product(op) ? work(op).value() : 0; });
  };
  EXPECT_NEAR(products(classifier) - products(headless), 3 * 2.0 * 512 * 16 * 2048, 1e-3);
  EXPECT_NEAR(products(mixed()) - products(headless), 3 * 2.0 * 512 * 1024 * 2048, 1e-3);
}

// Norms without weights hold nothing.
TEST(PlainNorms, HoldNothing) {
  const Result<Document> config = parse_json(
      R"({"architectures": ["OlmoForCausalLM"], "hidden_size": 512, "num_attention_heads": 8,
    "num_hidden_layers": 4, "intermediate_size": 1024, "vocab_size": 1024})",
      "config.json");
  const Model model = model_from_config(*config, "plain").value();
  EXPECT_DOUBLE_EQ(held(mixed_case(model)),
                   2.0 * 512 * 1024 + 4 * (4.0 * 512 * 512 + 3.0 * 512 * 1024));
}

// Mamba 130M of 2,048 tokens: 768 to twice 1,536 channels, of these to a rank of 48 and two vectors
// of 16, the rank to 1,536 rates, and back to 768; a scan that reads values, rates, gate, keys and
// queries and writes its result, in 2 bytes each; backward twice that.
TEST(LinearAttention, OfSelectiveStateSpacesIsProductsAndOneScan) {  // [STEP-30]
  const Case c = case_of("mamba-130m");
  expect_legal(c);
  const Step step = c.lowered();
  double products = 0, scans = 0;
  const double scan = 2048.0 * 2 * (4 * 1536 + 2 * 16);
  for (const Op& op : only<Op>(step.blocks[0].items)) {
    if (std::holds_alternative<Matmul>(op.shape) && op.phase == Phase::forward) {
      products += work(op).value();
    }
    const auto* pass = std::get_if<Pass>(&op.shape);
    if (pass == nullptr) continue;
    const double expected = op.phase == Phase::forward ? scan : 2 * scan;
    if (std::abs(pass->moved.value() - expected) < 1) ++scans;
    EXPECT_FALSE(std::holds_alternative<AttentionShape>(op.shape));
  }
  EXPECT_EQ(products, 2.0 * 2048 * (768 * 3072 + 1536 * 80 + 48 * 1536 + 1536 * 768));
  EXPECT_EQ(scans, 2);
}

// The dual form is linear attention of heads of 64 values and states of 128, whose layer has one
// norm and no feed-forward part.
TEST(LinearAttention, OfDualStateSpacesIsOfHeadsAlone) {  // [STEP-23]
  const Case c = case_of("mamba-codestral-7b", "dgx-h100");
  const Step step = c.lowered();
  int cores = 0, products = 0;
  for (const Op& op : only<Op>(step.blocks[0].items)) {
    if (op.phase != Phase::forward) continue;
    if (const auto* core = std::get_if<AttentionShape>(&op.shape)) {
      ++cores;
      EXPECT_EQ(core->heads, 128);
      EXPECT_EQ(core->value_dim, 64);
      EXPECT_EQ(core->head_dim, 128);
    }
    products += std::holds_alternative<Matmul>(op.shape) ? 1 : 0;
  }
  EXPECT_EQ(cores, 1);
  EXPECT_EQ(products, 2);
}

TEST(LinearAttention, OfSelectiveStateSpacesIsNotSplit) {
  Case c = case_of("mamba-130m");
  c.layout.tp = 2;
  const Problems found = check(c);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.back().message.find("not trained over split channels"), std::string::npos);
}

// What a rank holds of every layer comes to the model's parameters, but for rows of the vocabulary
// that are padded: state spaces alone, with attention and experts, layers of one part each.
TEST(LinearAttention, OfHybridsHoldsTheParametersOfTheModel) {
  for (const char* name : {"mamba-130m", "jamba-v0.1", "granite-4.0-h-small", "nemotron-h-8b"}) {
    const Case c = case_of(name, "dgx-h100");
    const Step step = c.lowered();
    const double all = static_cast<double>(parameters(c.model).total);
    EXPECT_NEAR(step.stages[0].parameters, all, 5e-4 * all) << name;
  }
}

}  // namespace
}  // namespace headway::testing

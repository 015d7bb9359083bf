// Networks of modules: their shapes, parameters and work, and what is wrong with them.
#include "model/modules.hpp"

#include <gtest/gtest.h>

#include "model/count.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

Model built_in(const char* name) {
  const auto model = load_model(name);
  EXPECT_TRUE(model.ok()) << name << ": " << (model ? "" : model.problems()[0].message);
  return model ? *model : Model();
}

Result<Model> network(const std::string& modules) {
  const auto document = parse_toml(
      "sample = \"image\"\ninput = [3, 32, 32]\n[[block]]\nmodules = [" + modules + "]\n",
      "n.toml");
  return model_from_toml(*document, "n");
}

double multiplications(const Model& model) {
  return forward_flops(model, 1, AttentionFlops::full).value() / 2;
}

// Published counts: torchvision's tables of weights (ResNet-50 25,557,032 and 4.09 G
// multiplications, ResNeXt-101 32x4d 44,177,704 as in NVIDIA's DeepLearningExamples).
TEST(Networks, OfVisionHaveTheParametersThatAreRead) {  // [MODEL-8]
  EXPECT_EQ(parameters(built_in("resnet-50")).total, 25'557'032);
  EXPECT_NEAR(multiplications(built_in("resnet-50")), 4.09e9, 0.01e9);
  EXPECT_EQ(parameters(built_in("resnext-101-32x4d")).total, 44'177'704);
  // ViT-B/16 and L/16 of torchvision have 86,567,656 and 304,326,632, of which the class token and
  // the table of positions, 198 vectors, are no module's.
  EXPECT_EQ(parameters(built_in("vit-b")).total, 86'567'656 - 198 * 768);
  EXPECT_EQ(parameters(built_in("vit-l")).total, 304'326'632 - 198 * 1024);
}

// Published counts: DiT-XL/2 of facebookresearch/DiT has 675,129,632 values, the table of positions
// among them; google-t5/t5-small 60,506,624, openai/whisper-large-v3 1,543,490,560,
// state-spaces/mamba-2.8b 2,768,345,600, ai21labs/Jamba-v0.1 51,570,323,328.
TEST(Networks, BuiltInOfConfigsHaveTheirPublishedParameters) {  // [MODEL-8]
  EXPECT_EQ(parameters(built_in("dit-xl-2")).total, 675'129'632);
  EXPECT_EQ(parameters(built_in("t5-small")).total, 60'506'624);
  EXPECT_EQ(parameters(built_in("whisper-large-v3")).total, 1'543'490'560);
  EXPECT_EQ(parameters(built_in("mamba-2.8b")).total, 2'768'345'600);
  EXPECT_EQ(parameters(built_in("jamba-v0.1")).total, 51'570'323'328);
}

// Of the FLOPs of papers and torchvision: DiT-XL/2 118.6 G multiplications (arXiv 2212.09748 table
// 4), Swin-T, B at 224 4.5, 15.4 G (arXiv 2103.14030 table 1, which counts no bias), ViT of a
// config as the built-in one of blocks.
TEST(Networks, OfConfigsRunThePublishedFlops) {  // [MODEL-8]
  EXPECT_NEAR(multiplications(built_in("dit-xl-2")), 118.6e9, 0.01 * 118.6e9);
  EXPECT_NEAR(multiplications(built_in("swin-t")), 4.5e9, 0.03 * 4.5e9);
  EXPECT_NEAR(multiplications(built_in("swin-b")), 15.4e9, 0.03 * 15.4e9);
  const auto config = parse_json(R"({"architectures": ["ViTForImageClassification"],
    "num_labels": 1000})",
                                 "config.json");
  const Model vit = model_from_config(*config, "vit").value();
  EXPECT_EQ(multiplications(vit), multiplications(built_in("vit-b")));
}

// MLPerf's recommendation_v2: 26 tables of 204,184,588 rows, 16.04 M values besides; 32.06 MFLOP a
// sample forward, of which no look-up is one.
TEST(Networks, OfRecommendationCountTablesApart) {  // [MODEL-8]
  const Model dlrm = built_in("dlrm-dcnv2");
  EXPECT_TRUE(has_tables(dlrm));
  double weights = 0, tables = 0;
  for (const Layer& layer : dlrm.kinds) {
    for (const NetworkModule& module : layer.modules) {
      weights += module_weights(module);
      tables += table_values(module);
      if (const auto* bags = std::get_if<EmbeddingBags>(&module.shape)) {
        EXPECT_EQ(bags->look_ups(), 214);
      }
    }
  }
  EXPECT_EQ(tables, 204'184'588.0 * 128);
  EXPECT_NEAR(weights, 16.04e6, 0.01e6);
  EXPECT_NEAR(2 * multiplications(dlrm), 32.06e6, 0.02e6);
}

// The U-Net of Stable Diffusion 2 has 865.9 M parameters (Stability AI), 320 fewer values in each
// embedding of time, which are no module here: 2 % less.
TEST(Networks, OfDiffusionComeNearTheirPublishedSize) {
  const Model model = built_in("stable-diffusion-v2");
  double trained = 0;
  for (const Layer& layer : model.kinds) {
    for (const NetworkModule& module : layer.modules) {
      if (!module.frozen) trained += module_weights(module);
    }
  }
  EXPECT_NEAR(trained, 865.9e6, 0.04 * 865.9e6);
}

// By hand: 32 x 32 to 16 x 16 by a stride of 2; 16 channels in 4 groups; to 32 x 32 again.
TEST(Networks, PassTheirShapesOn) {
  const auto model = network(
      "{ conv = 16, kernel = 3, stride = 2 }, { conv = 8, kernel = 3, groups = 4, bias = true }, "
      "{ transposed = 4, kernel = 2, stride = 2 }");
  ASSERT_TRUE(model.ok());
  const auto& modules = model->kinds[0].modules;
  EXPECT_EQ(modules[0].shape, ModuleShape(Convolution{3, 16, 9, 1024, 256}));
  EXPECT_EQ(modules[1].shape, ModuleShape(Convolution{16, 8, 9, 256, 256, 4, true}));
  EXPECT_EQ(modules[2].shape, ModuleShape(Convolution{8, 4, 4, 256, 1024, 1, false, true}));
  EXPECT_EQ(multiplications(*model), 256.0 * 3 * 16 * 9 + 256.0 * 4 * 8 * 9 + 256.0 * 8 * 4 * 4);
  EXPECT_EQ(parameters(*model).total, 3 * 16 * 9 + (4 * 8 * 9 + 8) + 8 * 4 * 4);
}

TEST(Networks, CountSharedWeightsOnceAndTheirWorkEachTime) {
  const auto model = network(
      "{ save = \"a\" }, { from = \"a\", branch = [{ conv = 8 }] }, "
      "{ from = \"a\", branch = [{ conv = 8 }], shared = true }");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(parameters(*model).total, 3 * 8);
  EXPECT_EQ(multiplications(*model), 2 * 1024.0 * 3 * 8);
}

TEST(Networks, FreezeWhatComesBeforeAllThatIsTrained) {
  const auto document = parse_toml(
      "sample = \"x\"\ninput = [3, 8]\n[[block]]\nmodules = [{ conv = 4 }]\n"
      "[[block]]\nfrozen = true\nmodules = [{ conv = 4 }]\n",
      "n.toml");
  const auto model = model_from_toml(*document, "n");
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.problems()[0].message.find("before all that are trained"), std::string::npos);
}

TEST(Networks, SayWhatIsWrongWithThem) {
  const auto says = [](const std::string& modules, const std::string& text) {
    const auto model = network(modules);
    ASSERT_FALSE(model.ok()) << modules;
    EXPECT_NE(model.problems()[0].message.find(text), std::string::npos)
        << model.problems()[0].message;
  };
  says("{ conv = 8, groups = 2 }", "must divide the channels");
  says("{ conv = 0 }", "whole number from 1");
  says("{ conv = 8, stride = 0 }", "whole number from 1");
  says("{ upsample = 64 }, { upsample = 64 }, { conv = 100000 }", "more than 10^11 elements");
  says("{ pool = 0 }, { linear = 1000000 }, { interaction = 1 }", "more than 100000 vectors");
  says("{ group = [{ group = [{ conv = 8 }], repeat = 2000 }], repeat = 2000 }", "more than 10^6");
  says("{ polish = 8 }", "names no module");
  says("{ conv = 8, valid = true, kernel = 40 }", "larger than what enters");
  says("{ conv = 8, kernels = [3] }", "each of the 2 dimensions");
  says("{ take = \"x\" }", "no module before it saves");
  says("{ residual = [{ conv = 8 }] }", "does not end in the shape");
  says("{ attention = 2 }", "heads must divide");
  says("{ norm = \"spectral\" }", "legal: batch, group, layer, frozen");
  says("{ tables = [], width = 8 }", "must list the rows");
  says("{ tables = [10], width = 8, pooling = [0] }", "from 1 to");
  says("", "hold no work");
}

}  // namespace
}  // namespace headway

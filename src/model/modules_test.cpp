// Networks of modules: their shapes, parameters and work, and what is wrong with them.
#include "model/modules.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/count.hpp"
#include "model/reading/load.hpp"

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

// Zamba2 by the layers of transformers' modeling_zamba2.py, as summed by hand: 54 layers of state
// spaces, before nine of them one of two blocks in turn, held once, with an adapter and a
// projection of each use; work of each use. Zyphra calls it 2.7 B.
TEST(Networks, ThatShareBlocksHoldThemOnceAndRunThemEachTime) {  // [MODEL-10]
  const Model model = built_in("zamba2-2.7b");
  const std::int64_t h = 2560, inner = 5120, wide = 10240, rank = 128, heads = 80, state = 64;
  const std::int64_t mamba = h * (2 * inner + 2 * state + heads) + (inner + 2 * state) * 5 +
                             3 * heads + inner + inner * h + h;
  const std::int64_t qkv = 2 * h * 3 * 2 * h, out = 2 * h * h, up = h * 2 * wide, down = wide * h;
  const std::int64_t block = 2 * h + qkv + out + h + up + down;
  const std::int64_t own = h * rank + rank * 2 * wide + h * h;
  EXPECT_EQ(parameters(model).total, 54 * mamba + 2 * block + 9 * own + 32000 * h + h);
  const auto products = [&](std::size_t kind) {
    double sum = 0;
    for (const NetworkModule& module : model.kinds[kind].modules) {
      sum += module_forward_flops(module).value() / 2;
    }
    return sum;
  };
  std::set<double> of_shared;
  for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
    if (!model.kinds[kind].modules.empty()) of_shared.insert(products(kind));
  }
  EXPECT_EQ(of_shared, std::set<double>{static_cast<double>(qkv + out + up + down + own)});
  EXPECT_EQ(model.layers(), 54 + 9);
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

// Sequences of 16 and 48 positions as often as each other: 32 in the mean, of which one sees 40
// keys, (16² + 48²) / 64: 2 · 2 · 32 · 40 multiplications of 8 channels with an addition, products
// as of 32.
TEST(Networks, OfSequencesOfUnlikeLengthSeeMoreThanTheMean) {  // [MODEL-8]
  const auto flops = [](const std::string& attention) {
    const auto document = parse_toml(
        "sample = \"x\"\ninput = [8, 32]\n[[block]]\nmodules = [{ " + attention + " }]\n",
        "n.toml");
    const auto model = model_from_toml(*document, "n");
    EXPECT_TRUE(model.ok());
    return model ? forward_flops(*model, 1, AttentionFlops::full).value() : 0;
  };
  EXPECT_EQ(flops("attention = 2, seen = 40") - flops("attention = 2"),
            2 * 2 * 32 * (40.0 - 32) * 8);
  const auto both = parse_toml(
      "sample = \"x\"\ninput = [8, 32]\n[[block]]\nmodules = [{ attention = 2, window = 4, seen = "
      "40 }]\n",
      "n.toml");
  EXPECT_FALSE(model_from_toml(*both, "n").ok());
}

// DeepLearningExamples' networks, by hand: NCF's tables of 138,493 + 26,744 rows of 192 and its MLP
// (31,832,577, as its README has it); the plain U-Net 64 to 1,024 with 3 x 3 windows everywhere,
// those of what is transposed too; V-Net; nnU-Net's convolutions with a scale and an offset for
// each channel.
TEST(Networks, OfDeepLearningExamplesHaveTheParametersOfTheirScripts) {  // [MODEL-8]
  EXPECT_EQ(parameters(built_in("ncf")).total, 31'832'577);
  const auto conv = [](std::int64_t in, std::int64_t out, std::int64_t taps, bool bias) {
    return in * out * taps + (bias ? out : 0);
  };
  std::int64_t unet = 0;
  for (std::int64_t in = 1, w = 64; w <= 1024; in = w, w *= 2) {
    unet += conv(in, w, 9, true) + conv(w, w, 9, true);
  }
  for (std::int64_t w = 512; w >= 64; w /= 2) {
    unet += conv(2 * w, w, 9, true) + conv(2 * w, w, 9, true) + conv(w, w, 9, true);
  }
  EXPECT_EQ(parameters(built_in("unet-medical")).total, unet + conv(64, 2, 1, true));
  const auto nnunet = [&](std::int64_t taps, std::int64_t most, std::int64_t up,
                          std::int64_t last) {
    std::int64_t out = 0, in = 4;
    std::vector<std::int64_t> widths;
    for (std::int64_t w = 32; widths.size() < 6; w = std::min(2 * w, most)) widths.push_back(w);
    for (const std::int64_t w : widths) {
      out += conv(in, w, taps, false) + conv(w, w, taps, false) + 4 * w;
      in = w;
    }
    for (std::size_t i = 5; i-- > 0;) {
      const std::int64_t w = widths[i];
      out += conv(widths[i + 1], w, up, true) + conv(2 * w, w, taps, false) +
             conv(w, w, taps, false) + 4 * w;
    }
    return out + conv(32, 4, last, true);
  };
  EXPECT_EQ(parameters(built_in("nnunet-3d")).total, nnunet(27, 320, 8, 1));
  EXPECT_EQ(parameters(built_in("nnunet-2d")).total, nnunet(9, 512, 4, 1));
  EXPECT_EQ(parameters(built_in("unet-3d-medical")).total, nnunet(27, 320, 8, 27));
  std::int64_t vnet = conv(1, 16, 27, true) + 2 * 16;
  for (std::int64_t w = 32; w <= 128; w *= 2) {
    vnet += conv(w / 2, w, 8, true) + 2 * w + 3 * (conv(w, w, 27, true) + 2 * w);
  }
  for (std::int64_t in = 128, w = 64; w >= 32; in = 2 * w, w /= 2) {
    vnet += conv(in, w, 8, true) + 2 * w + 3 * (conv(2 * w, 2 * w, 27, true) + 4 * w);
  }
  vnet += conv(64, 16, 8, true) + 2 * 16 + conv(16, 3, 27, true);
  EXPECT_EQ(parameters(built_in("vnet")).total, vnet);
  // 7,912,889 + ... + 35 rows, as its scripts list them: 15.6 GiB.
  EXPECT_EQ(parameters(built_in("dlrm-small")).total - parameters(built_in("dlrm-v1")).total,
            (32'709'138 - 177'953'962) * std::int64_t{128});
}

// arXiv 2310.02784: 801.2 B, 11,993 B and 332.1 B parameters; 638.1, 5.02 and 60.04 MFLOP a sample.
// With experts 16 of each top layer, two of which run; with four layers of 512 over 80 positions.
TEST(Networks, OfMadMaxHaveTheirPublishedSizes) {  // [MODEL-8]
  EXPECT_EQ(parameters(built_in("dlrm-a")).total, 20 * 3994LL * 3994 + 4096LL * 2'080'000 * 94);
  EXPECT_EQ(parameters(built_in("dlrm-f")).total, 8 * 560LL * 560 + 64LL * 732'000'000 * 256);
  EXPECT_EQ(parameters(built_in("dlrm-i")).total, 44 * 826LL * 826 + 512LL * 7'050'000 * 92);
  EXPECT_NEAR(2 * multiplications(built_in("dlrm-a")), 638.1e6, 0.05e6);
  EXPECT_NEAR(2 * multiplications(built_in("dlrm-f")), 5.02e6, 0.01e6);
  EXPECT_NEAR(2 * multiplications(built_in("dlrm-i")), 60.04e6, 0.01e6);
  EXPECT_EQ(multiplications(built_in("dlrm-a-experts")), 30.0 * 3994 * 3994);
  EXPECT_EQ(parameters(built_in("dlrm-i-experts")).total - parameters(built_in("dlrm-i")).total,
            22 * 15LL * 826 * 826);
  EXPECT_EQ(parameters(built_in("dlrm-a-transformer")).total - parameters(built_in("dlrm-a")).total,
            4 * (4 * 512LL * 512 + 2 * 512 * 2048));
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

#include "cluster/load.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/document/document.hpp"
#include "platform/embedded.hpp"

namespace headway {
namespace {

std::string all_text(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += where_text(problem) + ": " + problem.message + "\n";
  return out;
}

template <class T>
std::string problems_of(const Result<T>& result) {
  return result ? "" : all_text(result.problems());
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Cluster cluster_from_text(const std::string& text) {
  const Result<Cluster> result = parse_cluster(text, "mine.toml");
  EXPECT_TRUE(result.ok()) << problems_of(result);
  return result ? *result : Cluster();
}

std::string text_of(const std::string& path) {
  return std::string(*embedded_file(path));
}

TEST(Load, EveryBuiltInAcceleratorAndClusterLoads) {
  EXPECT_GE(accelerator_names().size(), 33u);
  EXPECT_GE(cluster_names().size(), 30u);
  for (const std::string& name : accelerator_names()) {
    const auto result = load_accelerator(name);
    EXPECT_TRUE(result.ok()) << name << "\n" << problems_of(result);
    if (result) {
      EXPECT_EQ(result->name, name);
    }
  }
  for (const std::string& name : cluster_names()) {
    const auto result = load_cluster(name);
    EXPECT_TRUE(result.ok()) << name << "\n" << problems_of(result);
    if (result) {
      EXPECT_EQ(result->name, name);
    }
  }
}

TEST(Load, NamesThatOthersRelyOnExist) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const char* name :
       {"v100-16gb",      "v100-32gb",  "a100-40gb", "a100-80gb", "a100-pcie-40gb", "a40",
        "a100-pcie-80gb", "a800-80gb",  "h100-sxm",  "h100-pcie", "h100-nvl",       "h800",
        "h200",           "gh200",      "b200",      "gb200",     "b300",           "gb300",
        "l40s",           "mi250x-gcd", "mi300x",    "mi325x",    "mi355x",         "gaudi-2",
        "gaudi-3",        "tpu-v3",     "tpu-v4",    "tpu-v5e",   "tpu-v5p",        "tpu-v6e",
        "tpu7x",          "trainium-1", "trainium-2"}) {
    EXPECT_TRUE(has(accelerator_names(), name)) << name;
  }
  for (const char* name :
       {"dgx-v100",    "dgx-a100-40gb", "dgx-a100-80gb", "dgx-h100", "dgx-h200", "dgx-b200",
        "gb200-nvl72", "gb300-nvl72",   "perlmutter",    "frontier", "p4d",      "p4de",
        "p5",          "p5en",          "a3-high",       "a3-mega",  "polaris",  "alps",
        "eos",         "selene",        "mi300x-8",      "tpu-v5p",  "tpu-v5e",  "tpu-v6e",
        "dgx-b300",    "wan-sites",     "trn1",          "trn2"}) {
    EXPECT_TRUE(has(cluster_names(), name)) << name;
  }
}

TEST(Load, TheGenerationBeforeIsBuiltInAndSlower) {
  std::size_t stated = 0;
  for (const std::string& name : accelerator_names()) {
    const Accelerator newer = load_accelerator(name).value();
    if (newer.previous.empty()) continue;
    ++stated;
    const auto older = load_accelerator(newer.previous);
    ASSERT_TRUE(older.ok()) << name;
    EXPECT_GE(newer.peak_of(Precision::bf16), older->peak_of(Precision::bf16)) << name;
    EXPECT_GE(newer.memory_bandwidth, older->memory_bandwidth) << name;
  }
  EXPECT_GE(stated, 15U);
}

TEST(Load, PeaksAreDenseAndFallWithTheWidthOfTheFormat) {
  for (const std::string& name : accelerator_names()) {
    const auto a = load_accelerator(name);
    ASSERT_TRUE(a.ok()) << name;
    double widest = 0;
    for (const Precision p :
         {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp8, Precision::fp4}) {
      const double peak = a->peak_of(p).value();
      if (peak == 0) continue;  // not supported
      EXPECT_GE(peak, widest) << name << " " << to_name(p);
      // A step to half the width doubles the dense rate; sparse rates would quadruple it. From
      // fp32 to tensor formats and to NVIDIA's fp4 (B300: 3x fp8) it may be more.
      if (p == Precision::fp8) {
        EXPECT_LE(peak, 2.05 * a->peak_of(Precision::bf16).value()) << name;
      }
      widest = peak;
    }
    EXPECT_GT(widest, 0) << name;
  }
}

TEST(Load, StatesThePeaksOfTheDataSheets) {
  const auto peak = [](const char* name, Precision p) {
    const auto a = load_accelerator(name);
    return a ? a->peak_of(p).value() / 1e12 : -1;
  };
  EXPECT_DOUBLE_EQ(peak("v100-32gb", Precision::fp16), 125);
  EXPECT_DOUBLE_EQ(peak("v100-32gb", Precision::bf16), 0);  // Volta has none
  EXPECT_DOUBLE_EQ(peak("a100-80gb", Precision::bf16), 312);
  EXPECT_DOUBLE_EQ(peak("a100-80gb", Precision::fp8), 0);
  EXPECT_NEAR(peak("h100-sxm", Precision::bf16), 989.4, 1e-9);
  EXPECT_NEAR(peak("h100-sxm", Precision::fp8), 1978.9, 1e-9);
  EXPECT_NEAR(peak("b200", Precision::bf16), 2250, 1e-9);
  EXPECT_NEAR(peak("gb200", Precision::bf16), 2450, 1e-9);
  EXPECT_NEAR(peak("gb200", Precision::fp8), 4900, 1e-9);
  EXPECT_NEAR(peak("gb300", Precision::fp4), 15000, 1e-9);
  EXPECT_NEAR(peak("mi250x-gcd", Precision::bf16), 383.0 / 2, 1e-9);
  EXPECT_NEAR(peak("tpu-v5p", Precision::bf16), 459, 1e-9);
  EXPECT_NEAR(peak("tpu-v6e", Precision::bf16), 918, 1e-9);
}

TEST(Load, SharesNetworkCardsBetweenTheAcceleratorsOfANode) {
  const auto fabric = [](const char* name) {
    const auto c = load_cluster(name);
    return c ? c->levels.back() : Level();
  };
  constexpr double kGiga = 1e9;
  EXPECT_DOUBLE_EQ(fabric("dgx-h100").bandwidth.value(), 50 * kGiga);  // 8 x 400 Gb/s by 8
  EXPECT_DOUBLE_EQ(fabric("dgx-h100").port_bandwidth.value(), 50 * kGiga);
  EXPECT_DOUBLE_EQ(fabric("p4d").bandwidth.value(), 6.25 * kGiga);       // 4 x 100 Gb/s by 8
  EXPECT_DOUBLE_EQ(fabric("p4d").port_bandwidth.value(), 12.5 * kGiga);  // alone: one card
  EXPECT_DOUBLE_EQ(fabric("p5").bandwidth.value(), 50 * kGiga);          // 32 x 100 Gb/s by 8
  EXPECT_DOUBLE_EQ(fabric("p5").port_bandwidth.value(), 50 * kGiga);     // its four cards
  EXPECT_DOUBLE_EQ(fabric("perlmutter").bandwidth.value(), 25 * kGiga);
  EXPECT_DOUBLE_EQ(fabric("frontier").bandwidth.value(), 12.5 * kGiga);
  EXPECT_DOUBLE_EQ(fabric("frontier").port_bandwidth.value(), 25 * kGiga);
  EXPECT_DOUBLE_EQ(fabric("gb200-nvl72").bandwidth.value(), 50 * kGiga);
}

TEST(Load, LevelsGrowOutwardsAndSlowDown) {
  for (const std::string& name : cluster_names()) {
    const auto c = load_cluster(name);
    ASSERT_TRUE(c.ok()) << name;
    ASSERT_GE(c->levels.size(), 2u) << name;
    EXPECT_EQ(c->accelerators, c->levels.back().size);
    for (std::size_t i = 1; i < c->levels.size(); ++i) {
      EXPECT_GT(c->levels[i].size, c->levels[i - 1].size) << name;
      EXPECT_EQ(c->levels[i].size % c->levels[i - 1].size, 0) << name;
      EXPECT_LT(c->levels[i].bandwidth, c->levels[i - 1].bandwidth) << name;
      EXPECT_GE(c->levels[i].latency, c->levels[i - 1].latency) << name;
    }
    for (const Level& level : c->levels) EXPECT_GE(level.port_bandwidth, level.bandwidth) << name;
  }
}

// Whatever a [sources.NAME] table covers is reported once the table is gone: so no number of a
// built-in file stands without a source, and the check that says so works.
TEST(Load, EveryNumberOfEveryBuiltInFileNeedsItsSource) {
  for (const char* folder : {"accelerators", "clusters"}) {
    for (const std::string& path : embedded_files(folder)) {
      const std::string text = text_of(path);
      ASSERT_TRUE(contains(text, "[sources.")) << path;
      const auto document = parse_toml(text, path);
      ASSERT_TRUE(document.ok()) << path;
      const Node* sources = document->root.find("sources");
      for (const auto& [group, node] : *sources->table()) {
        for (const char* key : {"source", "kind", "date", "fields"}) {
          EXPECT_NE(node.find(key), nullptr) << path << " " << group << " " << key;
        }
        if (document->root.find("base") != nullptr) continue;  // the base covers the same fields
        const std::size_t begin = text.find("[sources." + group + "]");
        const std::size_t end = std::min(text.find("\n[", begin), text.size());
        const std::string without = text.substr(0, begin) + text.substr(end);
        const std::string problems = folder == std::string("clusters")
                                         ? problems_of(parse_cluster(without, path))
                                         : problems_of(parse_accelerator(without, path));
        EXPECT_TRUE(contains(problems, "has no source")) << path << " " << group;
      }
    }
  }
}

TEST(Overlay, ChangesOnlyWhatItStates) {
  const Cluster base = *load_cluster("dgx-h100");
  const Cluster mine =
      cluster_from_text("base = \"dgx-h100\"\n[levels.fabric]\nnic_bandwidth = \"200 Gb/s\"\n");
  EXPECT_EQ(mine.name, "mine");
  ASSERT_EQ(mine.levels.size(), base.levels.size());
  EXPECT_DOUBLE_EQ(mine.levels[1].bandwidth.value(), base.levels[1].bandwidth.value() / 2);
  EXPECT_EQ(mine.levels[1].latency, base.levels[1].latency);
  EXPECT_EQ(mine.levels[0].bandwidth, base.levels[0].bandwidth);
  EXPECT_EQ(mine.accelerator.tdp, base.accelerator.tdp);
  EXPECT_EQ(mine.price_per_accelerator_hour, base.price_per_accelerator_hour);
  EXPECT_TRUE(contains(mine.source, "changed by mine.toml"));
}

TEST(Overlay, PlainBandwidthReplacesTheNetworkCards) {
  const Cluster mine =
      cluster_from_text("base = \"dgx-h100\"\n[levels.fabric]\nbandwidth = \"12 GB/s\"\n");
  EXPECT_DOUBLE_EQ(mine.levels[1].bandwidth.value(), 12e9);
  EXPECT_DOUBLE_EQ(mine.levels[1].port_bandwidth.value(), 12e9);
  EXPECT_EQ(mine.levels[1].nics, 0);
}

TEST(Overlay, CardsStayOnTheProcessorWhateverTheirBandwidth) {
  const Cluster mine =
      cluster_from_text("base = \"perlmutter\"\n[levels.fabric]\nbandwidth = \"12 GB/s\"\n");
  EXPECT_DOUBLE_EQ(let_through(mine.levels[1]), 5.0 / 6);
  EXPECT_DOUBLE_EQ(let_through(mine.levels[0]), 1);
  EXPECT_DOUBLE_EQ(let_through(load_cluster("frontier")->levels.back()), 1);
}

TEST(Overlay, InsertsALevelWhereItsSizeBelongs) {
  const Cluster mine = cluster_from_text(
      "base = \"dgx-h100\"\n[levels.unit]\nnetwork = \"ib-ndr\"\nsize = 256\n"
      "bandwidth = \"50 GB/s\"\nlatency = \"3 us\"\n[levels.fabric]\noversubscription = 4\n"
      "nics = 128\n"
      "[sources.mine]\nfields = [\"levels.unit\", \"oversubscription\"]\nsource = \"site plan\"\n");
  ASSERT_EQ(mine.levels.size(), 3u);
  EXPECT_EQ(mine.levels[1].name, "unit");
  EXPECT_EQ(mine.levels[2].name, "fabric");
  EXPECT_DOUBLE_EQ(mine.levels[2].oversubscription, 4);
  // 128 cards of 400 Gb/s are shared by the 256 of a unit.
  EXPECT_DOUBLE_EQ(mine.levels[2].bandwidth.value(), 25e9);
}

TEST(Overlay, AcceleratorCanBeNamedAnewOrChangedInPart) {
  EXPECT_EQ(cluster_from_text("base = \"dgx-h100\"\naccelerator = \"h200\"\n").accelerator.name,
            "h200");
  const Cluster capped = cluster_from_text(
      "base = \"dgx-h100\"\n[accelerator]\nboard_power = \"500 W\"\n"
      "[accelerator.sources.mine]\nfields = [\"board_power\"]\nsource = \"site plan\"\n");
  EXPECT_DOUBLE_EQ(capped.accelerator.power_limit().value(), 500);
  EXPECT_DOUBLE_EQ(capped.accelerator.tdp.value(), 700);
  EXPECT_DOUBLE_EQ(cluster_from_text("base = \"dgx-h100\"\n").accelerator.power_limit().value(),
                   700);
  EXPECT_NEAR(capped.accelerator.peak_of(Precision::bf16).value(), 989.4e12, 1);
  EXPECT_TRUE(contains(capped.accelerator.source, "changed by mine.toml"));
}

class OnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(::testing::TempDir()) / ("headway_load_" + std::string(info->name()));
    std::filesystem::create_directories(folder_ / "inner");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(OnDisk, BasesAndAcceleratorsAreFoundBesideTheFile) {
  write("chip.toml", "base = \"h100-sxm\"\nidle_power = \"99 W\"\n");
  write("site.toml", "base = \"dgx-h100\"\naccelerator = \"chip.toml\"\n");
  const std::string path =
      write("inner/part.toml", "base = \"../site.toml\"\npower_usage_effectiveness = 1.5\n");
  const auto part = load_cluster(path);
  ASSERT_TRUE(part.ok()) << problems_of(part);
  EXPECT_EQ(part->name, "part");
  EXPECT_DOUBLE_EQ(part->power_usage_effectiveness, 1.5);
}

TEST_F(OnDisk, ABaseThatNamesItselfIsAProblem) {
  const std::string path = write("circle.toml", "base = \"circle.toml\"\n");
  EXPECT_TRUE(contains(problems_of(load_cluster(path)), "does a file name itself"));
  const std::string chip = write("chip.toml", "base = \"chip.toml\"\n");
  EXPECT_TRUE(contains(problems_of(load_accelerator(chip)), "does a file name itself"));
}

TEST_F(OnDisk, ProblemsOfABaseNameItsFile) {
  write("site.toml", "base = \"dgx-h100\"\nprice_per_accelerator_hour = -1\n");
  const std::string path = write("mine.toml", "base = \"site.toml\"\n");
  EXPECT_TRUE(contains(problems_of(load_cluster(path)), "site.toml:2: price_per_accelerator_hour"));
}

TEST(Problems, NameTheNearest) {
  EXPECT_TRUE(contains(problems_of(load_cluster("dgx-h10")), "did you mean 'dgx-h100'?"));
  EXPECT_TRUE(contains(problems_of(load_accelerator("h100-smx")), "did you mean 'h100-sxm'?"));
  EXPECT_TRUE(contains(problems_of(load_cluster("no-such-file.toml")), "cannot be opened"));
  EXPECT_TRUE(contains(
      problems_of(parse_cluster("base = \"dgx-h100\"\npower_usage_efectiveness = 1.1\n", "m.toml")),
      "did you mean 'power_usage_effectiveness'?"));
  EXPECT_TRUE(
      contains(problems_of(parse_cluster("base = \"dgx-h100\"\naccelerator = \"h20\"\n", "m.toml")),
               "m.toml:2: accelerator"));
}

TEST(Problems, AQuantityWithoutUnitSaysWhichUnitsFit) {
  const std::string text = problems_of(
      parse_accelerator("base = \"h100-sxm\"\nmemory = \"80\"\ntdp = 700\n", "chip.toml"));
  EXPECT_TRUE(contains(text, "chip.toml:2: memory: '80' has no unit")) << text;
  EXPECT_TRUE(contains(text, "GiB")) << text;
  EXPECT_TRUE(contains(text, "chip.toml:3: tdp: must be text in quotes")) << text;
}

TEST(Problems, AllOfAFileAreReportedAtOnceWithTheirLines) {
  const std::string text = problems_of(
      parse_cluster("base = \"dgx-h100\"\n"                                    // 1
                    "power_usage_effectiveness = 0.5\n"                        // 2
                    "[levels.node]\nlatency = \"1 GB\"\n"                      // 3, 4
                    "[levels.fabric]\nsize = 1001\noversubscription = 0\n"     // 5 to 7
                    "[levels.site]\nsize = 1001\nbandwidth = \"1 GB/s\"\n"     // 8 to 10
                    "nics = 4\ntopology = \"taurus\"\nlattency = \"1 us\"\n",  // 11 to 13
                    "m.toml"));
  for (const char* part :
       {"m.toml:2: power_usage_effectiveness: must be from 1",
        "m.toml:4: levels.node.latency: 'GB' is not a unit",
        "m.toml:6: levels.fabric.size: is 1001, which the level below (8",
        "m.toml:7: levels.fabric.oversubscription: must be from 1",
        "m.toml:8: levels.site.network: is missing",
        "m.toml:9: levels.site.size: is the same as that of level 'fabric'", "exclude each other",
        "levels.site.nic_bandwidth: is missing beside its partner", "did you mean 'torus'?",
        "m.toml:13: levels.site.lattency: is not a known field"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\nin\n" << text;
  }
}

TEST(Problems, ValuesBeyondAnyMachineAreSlipsOfTheUnit) {
  const auto chip = [](const std::string& line) {
    return problems_of(parse_accelerator("base = \"h100-sxm\"\n" + line + "\n", "chip.toml"));
  };
  EXPECT_TRUE(contains(chip("memory = \"80000 TB\""), "is the unit right?"));
  EXPECT_TRUE(contains(chip("[peak]\nbf16 = \"99999 EFLOP/s\""), "is the unit right?"));
  EXPECT_TRUE(contains(chip("[peak]\nbf17 = \"1 TFLOP/s\""), "did you mean 'bf16'?"));
  EXPECT_TRUE(contains(chip("idle_power = \"2 kW\""), "is more than tdp"));
  EXPECT_TRUE(contains(chip("compute_units = 0"), "whole number from 1"));
  EXPECT_TRUE(contains(problems_of(parse_cluster("", "empty.toml")), "levels: is missing"));
  EXPECT_TRUE(contains(problems_of(parse_cluster("base = 3", "m.toml")), "must be the name"));
  EXPECT_TRUE(contains(problems_of(parse_cluster("base = \"tpu-v5e\"\n[levels.pod]\n"
                                                 "dimensions = [16, 15]\n",
                                                 "m.toml")),
                       "must multiply to 256"));
}

TEST(Problems, AFileOfOnesOwnNeedsOneSourceLine) {
  std::string text = text_of("accelerators/h100-sxm.toml");
  text.resize(text.find("[sources."));
  EXPECT_TRUE(contains(problems_of(parse_accelerator(text, "chip.toml")),
                       "chip.toml:4: memory: has no source"));
  EXPECT_TRUE(parse_accelerator("source = \"my own\"\n" + text, "chip.toml").ok());
  EXPECT_TRUE(contains(
      problems_of(parse_accelerator("kind = \"guess\"\nsource = \"x\"\n" + text, "chip.toml")),
      "is not a kind of source"));
  EXPECT_TRUE(
      contains(problems_of(parse_accelerator(
                   "source = \"x\"\n" + text + "[sources.a]\nfields = [\"tpd\"]\nsource = \"y\"\n",
                   "chip.toml")),
               "'tpd' is no field with a number; did you mean 'tdp'?"));
}

TEST(Hostile, TruncatedFilesAreProblemsOrValuesButNeverACrash) {
  for (const char* path : {"clusters/frontier.toml", "clusters/wan-sites.toml",
                           "clusters/tpu-v5p.toml", "accelerators/gb200.toml"}) {
    const std::string text = text_of(path);
    for (std::size_t length = 0; length < text.size(); length += 3) {
      const std::string part = text.substr(0, length);
      const bool is_cluster = std::string(path).starts_with("clusters");
      const std::string problems = is_cluster ? problems_of(parse_cluster(part, path))
                                              : problems_of(parse_accelerator(part, path));
      // The last line of each file is the date of a source, which may be cut off unharmed. An
      // overlay may be whole at any line.
      if (length + 40 < text.size() && text.find("base = ") == std::string::npos) {
        EXPECT_FALSE(problems.empty()) << path << " cut at " << length;
      }
    }
  }
}

RC_GTEST_PROP(Hostile, ChangedBytesNeverCrash, ()) {
  std::string text = text_of(*rc::gen::element<std::string>(
      "clusters/gb200-nvl72.toml", "clusters/wan-sites.toml", "clusters/trn1.toml"));
  const auto times = *rc::gen::inRange(1, 8);
  for (int i = 0; i < times; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  }
  const auto result = parse_cluster(text, "hostile.toml");
  if (result) {
    RC_ASSERT(result->levels.size() >= 2u);
    for (const Level& level : result->levels) RC_ASSERT(level.bandwidth > BytesPerSecond(0));
  } else {
    RC_ASSERT(!result.problems().empty());
  }
}

}  // namespace
}  // namespace headway

#include "study/design/machine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"

namespace headway {
namespace {

BuiltMachine built(const std::string& cluster, const MachineChoice& choice) {
  const auto out = assemble(*load_cluster(cluster), choice);
  EXPECT_TRUE(out.ok());
  return *out;
}

// [DESIGN-6] Stacks times wires times their rate, and what a stack holds, are what data sheets and
// logs say of the whole.
TEST(Technologies, KnownMachinesAreMadeOfTheirParts) {
  const Technologies& known = *technologies();
  EXPECT_EQ(known.machines.size(), accelerator_names().size());
  for (const MachineParts& parts : known.machines) {
    const Accelerator sheet = *load_accelerator(parts.accelerator);
    const double units = static_cast<double>(parts.units);
    const double bandwidth =
        units * static_cast<double>(parts.memory->width) * parts.pin_rate.value();
    EXPECT_NEAR(bandwidth / sheet.memory_bandwidth.value(), 1, parts.within) << parts.accelerator;
    EXPECT_NEAR(units * parts.unit_capacity.value() / sheet.memory.value(), 1, parts.within)
        << parts.accelerator;
    // No board runs its memory beyond what is sold, but for 2 % of A100's.
    EXPECT_LE(parts.pin_rate, parts.memory->fastest * 1.02) << parts.accelerator;
  }
}

// Published numbers of a stack, of a device, of an accelerator.
TEST(Technologies, AreAsFastAsPublished) {
  const Technologies& known = *technologies();
  const auto bandwidth = [&](const char* name) {
    return named(known.memories, name)->bandwidth.value() / 1e9;
  };
  EXPECT_NEAR(bandwidth("hbm2"), 307, 1);
  EXPECT_NEAR(bandwidth("hbm2e"), 410, 1);
  EXPECT_NEAR(bandwidth("hbm3"), 819, 1);
  EXPECT_NEAR(bandwidth("hbm3e"), 1178, 1);
  EXPECT_NEAR(bandwidth("hbm4"), 2048, 1);
  EXPECT_NEAR(bandwidth("gddr7"), 128, 1);
  EXPECT_NEAR(bandwidth("lpddr5x"), 68, 1);
  EXPECT_NEAR(bandwidth("ddr5"), 51, 1);
  for (const auto& [link, cluster, level] : {std::tuple{"nvlink4", "dgx-h100", 0},
                                             {"nvlink5", "dgx-b200", 0},
                                             {"ib-ndr", "dgx-h100", 1},
                                             {"nvlink3", "dgx-a100-80gb", 0},
                                             {"infinity-fabric", "mi300x-8", 0}}) {
    const Level of = load_cluster(cluster)->levels[static_cast<std::size_t>(level)];
    const LinkTechnology& technology = *named(known.links, link);
    EXPECT_EQ(technology.network, of.network) << link;
    EXPECT_NEAR(technology.bandwidth / of.bandwidth, 1, 1e-9) << link;
    EXPECT_NEAR(technology.latency / of.latency, 1, 1e-9) << link;
    EXPECT_EQ(technology.sums, of.in_network_reduction) << link;
  }
}

// [DESIGN-6] [DESIGN-7] Nothing chosen, and its own parts chosen, are the machine as it is.
TEST(BuiltMachine, OfItsOwnPartsIsItself) {
  const Technologies& known = *technologies();
  const Cluster base = *load_cluster("dgx-h100");
  for (const MachineChoice& choice :
       {MachineChoice{}, MachineChoice{.memory = named(known.memories, "hbm3"),
                         .units = 5,
                         .link = named(known.links, "nvlink4"),
                         .domain = 8,
                         .network = named(known.links, "ib-ndr"),
                         .node = named(known.nodes, "n4"),
                         .area = 814,
                         .arithmetic = 0.5}}) {
    const BuiltMachine made = built("dgx-h100", choice);
    const Accelerator& accelerator = made.cluster.accelerator;
    EXPECT_NEAR(accelerator.memory_bandwidth / base.accelerator.memory_bandwidth, 1, 0.01);
    EXPECT_NEAR(accelerator.memory / base.accelerator.memory, 1, 0.01);
    EXPECT_NEAR(peak_in_16_bit(accelerator) / peak_in_16_bit(base.accelerator), 1, 1e-9);
    EXPECT_EQ(accelerator.compute_units, base.accelerator.compute_units);
    EXPECT_NEAR(made.least_power.value(), 700, 1);
    EXPECT_NEAR(made.most_power.value(), 700, 1);
    EXPECT_EQ(*made.area, 814);
    for (std::size_t i = 0; i < base.levels.size(); ++i) {
      EXPECT_EQ(made.cluster.levels[i].size, base.levels[i].size);
      EXPECT_EQ(made.cluster.levels[i].bandwidth, base.levels[i].bandwidth);
    }
  }
}

// [DESIGN-4] Levels beyond the first keep their proportions; a latency that is varied multiplies
// all fixed times of its class, so that short messages take as many times as long.
TEST(BuiltMachine, WithOtherLinksHasTheirRatesAndTimes) {
  const Technologies& known = *technologies();
  const Cluster base = *load_cluster("dgx-h100");
  const BuiltMachine made = built("dgx-h100", {.link = named(known.links, "nvlink5"),
                                               .domain = 64,
                                               .network = named(known.links, "ib-xdr"),
                                               .network_latency = Seconds(8e-6)});
  EXPECT_EQ(made.cluster.levels[0].bandwidth, BytesPerSecond(900e9));
  EXPECT_EQ(made.cluster.levels[0].size, 64);
  EXPECT_EQ(made.cluster.levels[1].size, base.levels[1].size);
  EXPECT_EQ(made.cluster.levels[1].bandwidth, BytesPerSecond(100e9));
  EXPECT_EQ(made.cluster.levels[1].latency, Seconds(8e-6));
  Level as_built = made.cluster.levels[1];
  as_built.constants = {};
  const NetworkParameters slow = *network_parameters_for(made.cluster.levels[1]);
  const NetworkParameters usual = *network_parameters_for(as_built);
  EXPECT_NEAR(slow.base_latency / usual.base_latency, 2, 1e-9);
  EXPECT_NEAR(slow.ring_step / usual.ring_step, 2, 1e-9);
  EXPECT_EQ(slow.bandwidth_efficiency, usual.bandwidth_efficiency);
}

// [DESIGN-3] H200 is H100 with six stacks of HBM3E: its data sheet's 4.8 TB/s, at the rate of the
// standard 9.2 instead of 6.4 Gb/s.
TEST(BuiltMachine, WithOtherMemoryHasItsBandwidthAndCapacity) {
  const Technologies& known = *technologies();
  const MemoryTechnology* hbm3e = named(known.memories, "hbm3e");
  const BuiltMachine made = built("dgx-h100", {.memory = hbm3e, .units = 6});
  const Accelerator h200 = *load_accelerator("h200");
  EXPECT_NEAR(made.cluster.accelerator.memory / h200.memory, 1, 0.03);
  EXPECT_NEAR(made.cluster.accelerator.memory_bandwidth / h200.memory_bandwidth, 9.2 / 6.25, 1e-9);
  // 5 · 1.18 TB/s instead of 3.35 draw more by at least 3.9 pJ of each bit beyond the old ones'.
  EXPECT_GT(made.most_power, Watts(700));
  EXPECT_GT(made.most_power, made.least_power);
}

// [DESIGN-3] Half of the edge of 814 mm2 is 57 mm: 400 wires a mm are 22,825, for 11 stacks of
// 2,048; on a board 1,141, for 35 devices of 32.
TEST(BuiltMachine, HasNoMoreMemoryThanTheEdgesOfItsDiesHold) {
  const Technologies& known = *technologies();
  const auto fits = [&](const char* memory, std::int64_t units) {
    return built("dgx-h100", {.memory = named(known.memories, memory), .units = units})
        .impossible.empty();
  };
  EXPECT_TRUE(fits("hbm4", 11));
  EXPECT_FALSE(fits("hbm4", 12));
  EXPECT_TRUE(fits("gddr7", 35));
  EXPECT_FALSE(fits("gddr7", 36));
}

// [DESIGN-3] Five stacks of 1,024 wires are 5,120: a board's 20 wires a mm carry 1,141.
TEST(BuiltMachine, NeedsAPackageThatCarriesItsWires) {
  const Technologies& known = *technologies();
  const auto fits = [&](const char* package) {
    return built("dgx-h100", {.package = named(known.packages, package)}).impossible.empty();
  };
  EXPECT_TRUE(fits("interposer"));
  EXPECT_FALSE(fits("board"));
}

// [DESIGN-5] N3 has 2.8/1.9 of N4's logic on the same area. [DESIGN-10] H100's interfaces, of six
// stacks 10.45 + 5.74/1.9 mm2 each and 17.4 + 16.2/1.9 of NVLink, are 106.8 of its 814: in N3 their
// control shrinks, on half of the area they stay. A sixth stack uses what is there.
TEST(BuiltMachine, HasAsMuchArithmeticAsItsAreaHolds) {
  const Technologies& known = *technologies();
  const Cluster base = *load_cluster("dgx-h100");
  const auto more = [&](const MachineChoice& choice) {
    const BuiltMachine made = built("dgx-h100", choice);
    const double out = peak_in_16_bit(made.cluster.accelerator) / peak_in_16_bit(base.accelerator);
    EXPECT_NEAR(static_cast<double>(made.cluster.accelerator.compute_units), 132 * out, 0.5);
    return out;
  };
  const auto interfaces = [](double stacks, double density) {
    return stacks * (10.45 + 5.74 / density) + 17.4 + 16.2 / density;
  };
  const double as_it_is = interfaces(6, 1.9);
  EXPECT_NEAR(more({.node = named(known.nodes, "n3")}),
              (407 + as_it_is - interfaces(6, 2.8)) / 407 * (2.8 / 1.9), 1e-9);
  EXPECT_NEAR(more({.area = 407}), (203.5 - as_it_is / 2) / 407, 1e-9);
  EXPECT_NEAR(more({.units = 6}), 1, 1e-9);
  EXPECT_NEAR(more({.units = 8}), (407 + as_it_is - interfaces(8, 1.9)) / 407, 1e-9);
  EXPECT_NEAR(more({.memory = named(known.memories, "hbm3e")}), 1, 1e-9);
  EXPECT_NEAR(more({.arithmetic = 0.6}), 1.2, 1e-9);
  const BuiltMachine small = built("dgx-h100", {.arithmetic = 0.6});
  EXPECT_NEAR(small.cluster.accelerator.cache / base.accelerator.cache, 0.05 / 0.15, 1e-9);
  EXPECT_FALSE(built("dgx-h100", {.arithmetic = 0.65}).impossible.empty());
}

// [DESIGN-10] On a photograph of GA100 six stacks' interfaces and NVLink have 111 mm2 without
// PCIe's (LLMCompass, ISCA 2024, artifact).
TEST(Technologies, InterfacesTakeWhatPhotographsShow) {
  const Technologies& known = *technologies();
  const LogicNode& n7 = *named(known.nodes, "n7");
  const double stack = n7.area_of(*named(known.memories, "hbm2e")->interface);
  const double links = n7.area_of(*named(known.links, "nvlink3")->interface);
  EXPECT_NEAR((6 * stack + links) / 111, 1, 0.2);
}

// What stacks and links need of a die that small is more than it has beside its cache.
TEST(BuiltMachine, LeavesArithmeticNothingWhereInterfacesTakeAll) {
  const std::string why = built("dgx-h100", {.area = 100}).impossible;
  EXPECT_NE(why.find("leave arithmetic nothing"), std::string::npos) << why;
}

// [DESIGN-7] [FORECAST-12] What a bit takes says what is drawn, not how fast the same peak is: a
// machine whose memory takes more is no faster. A link that is chosen takes what its own bit does.
TEST(BuiltMachine, IsNoFasterWhereABitTakesMore) {
  for (const char* cluster : {"dgx-h100", "dgx-b200"}) {
    const Accelerator base = load_cluster(cluster)->accelerator;
    for (const double joules : {0.5e-12, 50e-12}) {
      const Accelerator made = built(cluster, {.memory_energy = joules}).cluster.accelerator;
      EXPECT_EQ(made.power_limit(), base.power_limit());
      EXPECT_EQ(made.peak, base.peak);
    }
  }
  const auto draws = [](const char* link) {
    const BuiltMachine made = built(
        "dgx-h100", {.link = named(technologies()->links, link), .peak = FlopsPerSecond(989.4e12)});
    return made.most_power.value();
  };
  // 1 TB/s of at most 6 pJ a bit draws less beyond the rest than 900 GB/s of at most 8.
  EXPECT_NEAR(draws("optical") - draws("nvlink5"), 8 * (6e-12 * 1e12 - 8e-12 * 900e9), 1e-6);
}

// A board of one generation of PCIe is not taken for another's: nothing changes.
TEST(BuiltMachine, KnowsTheGenerationOfItsOwnLinks) {
  const Technologies& known = *technologies();
  const Cluster base = *load_cluster("rtx-5090-8");
  const BuiltMachine made = built("rtx-5090-8", {.link = named(known.links, "pcie5")});
  EXPECT_EQ(technology_of(base.levels[0], known)->name, "pcie5");
  EXPECT_EQ(made.cluster.accelerator.peak, base.accelerator.peak);
  EXPECT_NEAR(made.most_power / base.accelerator.tdp, 1, 1e-6);
}

// [DESIGN-7] A bit of H100's memory takes 3.5 to 7 pJ; one of 2 saves what is beyond that at either
// end, whatever links and arithmetic draw.
TEST(BuiltMachine, DrawsWhatABitIsSaidToTake) {
  const double rate = load_cluster("dgx-h100")->accelerator.memory_bandwidth.value();
  const BuiltMachine made = built("dgx-h100", {.memory_energy = 2e-12});
  EXPECT_NEAR(made.most_power.value(), 700 - 8 * (3.5e-12 - 2e-12) * rate, 1e-6);
  EXPECT_NEAR(made.least_power.value(), 700 - 8 * (7e-12 - 2e-12) * rate, 1e-6);
  const BuiltMachine links = built("dgx-h100", {.link_energy = 10e-12});
  EXPECT_NEAR(links.most_power.value(), 700 + 8 * (10e-12 - 5e-12) * 450e9, 1e-6);
  EXPECT_NEAR(links.least_power.value(), 700 + 8 * (10e-12 - 8e-12) * 450e9, 1e-6);
}

// [DESIGN-7] Memory and links of H100 draw, at the middle of [3.5, 7] pJ over 3.352 TB/s, of
// [5, 8] over 450 GB/s and of [12, 25] over 50, 172 W; of 400 W 228 are left of 528.
TEST(BuiltMachine, WithinAPowerIsAsFastAsThatLeavesIt) {
  const Cluster base = *load_cluster("dgx-h100");
  const double moved = 8 * (5.25e-12 * 3.352e12 + 6.5e-12 * 450e9 + 18.5e-12 * 50e9);
  const BuiltMachine made = built("dgx-h100", {.power = Watts(400)});
  EXPECT_NEAR(peak_in_16_bit(made.cluster.accelerator) / peak_in_16_bit(base.accelerator),
              (400 - moved) / (700 - moved), 1e-6);
  EXPECT_NEAR((made.least_power + made.most_power).value() / 2, 400, 1e-6);
  EXPECT_EQ(made.cluster.accelerator.compute_units, 132);
  EXPECT_FALSE(built("dgx-h100", {.power = Watts(150)}).impossible.empty());
  // More than its area can use is no faster.
  const BuiltMachine free = built("dgx-h100", {.power = Watts(2000)});
  EXPECT_NEAR(peak_in_16_bit(free.cluster.accelerator) / peak_in_16_bit(base.accelerator), 1, 1e-9);
}

// [DESIGN-9] 814 mm2 of a wafer of 300 mm: by hand 63.5 dies, of which exp(-0.814) are sound.
// Raymond James and Epoch AI put the logic, memory and package of an H100 at 300, 1,350 and 750 US$
// (siliconanalysts.com), B200's memory and package at 2,900 and 1,100 of 6,400 in all.
TEST(PartsPrice, IsThatOfWafersMemoryAndPackage) {
  const LogicNode& n4 = *named(technologies()->nodes, "n4");
  const PriceRange die = *price_of_die(n4, 814);
  EXPECT_NEAR(die.low, 16000 / 63.5, 1);
  EXPECT_NEAR(die.high, 16988 / 63.5 / 0.443, 2);
  const PriceRange h100 = *built("dgx-h100", {}).parts;
  EXPECT_LT(h100.low, 300 + 1350 + 750);
  EXPECT_GT(h100.high, 300 + 1350 + 750);
  const PriceRange b200 = *built("dgx-b200", {}).parts;
  EXPECT_LT(b200.low, 2900 + 1100 + 300);
  EXPECT_GT(b200.high, 2900 + 1100);
  EXPECT_LT(b200.middle(), 6400);
}

// What replaces a part by a number, or by one that has no price, has none; memory without an
// interposer costs its own alone beside the die; a smaller die in the same node costs less.
TEST(PartsPrice, IsKnownWhereAllPartsAre) {
  const Technologies& known = *technologies();
  const auto parts = [](const MachineChoice& choice) { return built("dgx-h100", choice).parts; };
  EXPECT_FALSE(parts({.bandwidth = BytesPerSecond(4e12)}));
  EXPECT_FALSE(parts({.peak = FlopsPerSecond(2e15)}));
  EXPECT_FALSE(parts({.memory = named(known.memories, "lpddr5x")}));
  EXPECT_FALSE(built("mi300x-8", {}).parts);  // its dies are of two nodes
  const LogicNode& n4 = *named(known.nodes, "n4");
  const PriceRange sram = *parts({.memory = named(known.memories, "sram")});
  EXPECT_NEAR(sram.middle(), price_of_die(n4, 814)->middle(), 1e-9);
  const PriceRange gddr = *parts({.memory = named(known.memories, "gddr7"), .units = 24});
  EXPECT_NEAR(gddr.low, price_of_die(n4, 814)->low + 4.1 * 24 * 3, 0.02 * gddr.low);
  EXPECT_LT(parts({.area = 400})->high, parts({})->high);
}

// A field of lithography has 26 x 33 mm.
TEST(BuiltMachine, HasNoDieThatIsLargerThanAReticle) {
  const Cluster cluster = *load_cluster("dgx-h100");
  EXPECT_EQ(assemble(cluster, {.area = 858})->impossible, "");
  EXPECT_NE(assemble(cluster, {.area = 859})->impossible.find("reticle"), std::string::npos);
}

// A wafer of 300 mm holds some 106 mm of a square at most: of a larger die there is no price, and
// of any that has one no negative.
TEST(PartsPrice, IsNoneOfADieThatNoWaferHolds) {
  const Technologies& known = *technologies();
  for (const double area : {10.0, 814.0, 5000.0, 8000.0, 11'300.0, 90'000.0}) {
    const auto parts = built("dgx-h100", {.area = area}).parts;
    EXPECT_EQ(parts.has_value(), area < 10'000) << area;
    if (parts) {
      EXPECT_GT(parts->low, 0) << area;
      EXPECT_GE(parts->high, parts->low) << area;
    }
  }
  EXPECT_FALSE(price_of_die(*named(known.nodes, "n4"), 20'000));
}

// [DESIGN-11] US$ of an accelerator's 400 Gb/s without its card: one layer for 512 in nodes of
// eight, two for 1,024, three beyond 16,384: 1,882, 4,249 and 6,612 in a buyer's spreadsheet
// (tech-talk-cto, 2024-08).
TEST(NetworkPrice, IsThatOfPortsAndTransceiversOfItsLayers) {
  const LinkTechnology& ndr = *named(technologies()->links, "ib-ndr");
  for (const auto& [accelerators, published] :
       {std::pair{512, 1882.0}, {1024, 4249.0}, {16'384, 4249.0}, {16'392, 6612.0}}) {
    const PriceRange price = *price_of_network(ndr, accelerators, 8);
    EXPECT_NEAR((price.low - ndr.pieces->card.low) / published, 1, 0.03) << accelerators;
    EXPECT_GT(price.high, price.low);
  }
  EXPECT_FALSE(price_of_network(*named(technologies()->links, "nvlink4"), 512, 8));
}

}  // namespace
}  // namespace headway

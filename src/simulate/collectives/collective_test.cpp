// Collectives placed message by message, against closed forms written down by others and against
// counts of what each rank must hear.
#include "simulate/collectives/collective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "simulate/collectives/every_rank.hpp"
#include "simulate/collectives/placement.hpp"
#include "simulate/collectives/stepwise.hpp"
#include "simulate/network/filling.hpp"
#include "simulate/topology/file.hpp"
#include "simulate/topology/read.hpp"

namespace headway::network {
namespace {

constexpr double kGB = 1e9;

Speeds speeds(double gigabytes_per_second, double microseconds) {
  return {{BytesPerSecond(gigabytes_per_second * kGB)}, {Seconds(microseconds * 1e-6)}};
}

Topology on(const std::string& text, std::uint32_t ranks, const Speeds& of) {
  auto read = read_topology(text, ranks, 0, of);
  EXPECT_TRUE(read.ok()) << text;
  return std::move(read).value();
}

SimulatedCollective simulated(Collective op, double bytes, const Topology& topology,
                              const std::string& algorithm, bool every_rank = false) {
  const auto found = simulate_collective({op, Bytes(bytes)}, topology,
                                         {.algorithm = algorithm, .every_rank = every_rank});
  EXPECT_TRUE(found.ok()) << algorithm << ": " << found.problems().front().message;
  return found.ok() ? *found : SimulatedCollective{};
}

struct Known {
  Collective op;
  const char *algorithm, *topology;
};

// [SIM-13] [SIM-16] On a switch each of 13 algorithms takes what latency and bandwidth alone say:
// 312 times, which are printed to a nanosecond.
TEST(Collectives, OnASwitchTakeTheTimesOfTheirClosedForms) {
  using enum Collective;
  const std::map<std::string, Known> names = {
      {"ring all-reduce", {all_reduce, "ring", "switch"}},
      {"ring all-gather", {all_gather, "ring", "switch"}},
      {"recursive doubling all-reduce", {all_reduce, "recursive-doubling", "switch"}},
      {"Rabenseifner all-reduce", {all_reduce, "rabenseifner", "switch"}},
      {"recursive doubling all-gather", {all_gather, "recursive-doubling", "switch"}},
      {"Bruck all-gather", {all_gather, "bruck", "switch"}},
      {"direct (one-shot, n-1 ports at B each) all-gather", {all_gather, "direct", "full"}},
      {"one-shot all-reduce, one port", {all_reduce, "one-shot", "switch"}},
      {"two-shot all-reduce, one port", {all_reduce, "two-shot", "switch"}},
      {"pairwise all-to-all (S sent per rank)", {all_to_all, "pairwise", "switch"}},
      {"Bruck all-to-all", {all_to_all, "bruck", "switch"}},
      {"in-network all-reduce (multicast + reduce)", {all_reduce, "switch", "switch"}},
      {"double binary tree all-reduce, optimal chunk",
       {all_reduce, "double-binary-tree", "switch"}}};
  const std::string file = source_dir() + "/tests/oracles/simulation/collectives_alpha_beta.csv";
  const Csv table = parse_csv(read_file(file).value(), "collectives_alpha_beta.csv").value();
  ASSERT_EQ(table.rows.size(), 312U);
  for (const CsvRow& row : table.rows) {
    const auto number = [&](const char* column) {
      return std::stod(row.cells[table.column(column).value()]);
    };
    const Known& known = names.at(row.cells[0]);
    const Topology topology = on(known.topology, static_cast<std::uint32_t>(number("ranks")),
                                 speeds(number("bandwidth_GBps"), number("alpha_us")));
    const double time =
        simulated(known.op, number("bytes"), topology, known.algorithm).time.value() * 1e6;
    const double expected = number("time_us");
    EXPECT_NEAR(time, expected, std::max(0.00051, 1e-6 * expected))
        << row.cells[0] << ", " << row.cells[1] << " ranks, " << row.cells[2] << " B";
  }
}

// [SIM-14] What is placed once for all alike is what is placed one by one.
TEST(Collectives, TakeTheSameTimeByClassesAndRankByRank) {
  using enum Collective;
  const Speeds fast = speeds(50, 2);
  int by_classes = 0;
  for (const Topology& topology :
       {on("switch", 16, fast), on("torus:4x4", 0, fast), on("mesh:3x5", 0, fast),
        on("fat-tree:4x4:2", 0, fast), on("rails:4x4", 0, fast), on("torus:2x4x3", 0, fast),
        on("switch", 13, fast), on("dragonfly:2x2x1", 0, fast), on("clos:4", 0, fast)}) {
    for (const Collective op : {all_reduce, all_gather, reduce_scatter, all_to_all}) {
      for (const std::string& algorithm : algorithm_names()) {
        const Call call{op, Bytes(1e6)};
        const auto classes = simulate_collective(call, topology, {.algorithm = algorithm});
        const auto every =
            simulate_collective(call, topology, {.algorithm = algorithm, .every_rank = true});
        ASSERT_EQ(classes.ok(), every.ok());
        if (!classes.ok()) continue;
        by_classes += classes->by_classes ? 1 : 0;
        EXPECT_NEAR(classes->time / every->time, 1, 1e-11) << topology.name << " " << algorithm;
        EXPECT_EQ(classes->sent_per_rank, every->sent_per_rank);
      }
    }
  }
  EXPECT_GT(by_classes, 20);
}

// Steps that all begin together, placed together, take what they take message by message.
TEST(Collectives, TakeTheSameTimeTogetherAndMessageByMessage) {
  const Speeds fast = speeds(50, 2);
  for (const Topology& topology :
       {on("switch", 16, fast), on("torus:4x4", 0, fast), on("mesh:3x5", 0, fast),
        on("fat-tree:4x4:2", 0, fast), on("rails:4x4", 0, fast), on("switch", 13, fast),
        on("dragonfly:2x2x1", 0, fast), on("clos:4", 0, fast)}) {
    for (const Collective op : {Collective::all_reduce, Collective::all_gather,
                                Collective::reduce_scatter, Collective::all_to_all}) {
      for (const auto& plan :
           {ring, recursive_doubling, recursive_halving, rabenseifner, bruck, pat, direct, one_shot,
            two_shot, pairwise, hierarchical, two_level, dimension_by_dimension, rotations}) {
        const Planned planned = plan({op, Bytes(1e6)}, topology);
        if (!planned.problem.empty()) continue;
        const PlacedPattern together = place_every_rank(planned.pattern, topology);
        const PlacedPattern single = place_every_rank(planned.pattern, topology, true);
        EXPECT_NEAR(together.time / single.time, 1, 1e-11) << topology.name;
        EXPECT_EQ(together.messages, single.messages) << topology.name;
      }
    }
  }
}

// A ring all-gather by the definition: a rank sends block s + 1 when its own block s has gone and
// the one before has come; at each end of a message all rates are found anew.
double ring_by_definition(const Topology& topology, double block) {
  struct Sender {
    std::vector<LinkId> route;
    std::uint32_t sent = 0;
    double left = 0;
    bool sends = false;
  };
  const auto n = static_cast<std::uint32_t>(topology.ring.size());
  std::vector<Sender> senders(n);
  std::vector<BytesPerSecond> capacities;
  for (const Link& link : topology.links) capacities.push_back(link.capacity);
  for (std::uint32_t i = 0; i < n; ++i) {
    topology.route(topology.ring[i], topology.ring[(i + 1) % n], senders[i].route);
  }
  for (double now = 0;;) {
    std::vector<Demand> demands;
    std::vector<Sender*> sending;
    for (std::uint32_t i = 0; i < n; ++i) {
      Sender& each = senders[i];
      const std::uint32_t come = senders[(i + n - 1) % n].sent;
      if (!each.sends && each.sent < n - 1 && come >= each.sent) {
        each.sends = true;
        each.left = block;
      }
      if (!each.sends) continue;
      sending.push_back(&each);
      demands.push_back({.route = each.route});
    }
    if (sending.empty()) return now;
    const auto rates = shared_rates(capacities, demands);
    double next = kNoLimit;
    for (std::size_t i = 0; i < sending.size(); ++i) {
      next = std::min(next, sending[i]->left / rates[i].value());
    }
    now += next;
    for (std::size_t i = 0; i < sending.size(); ++i) {
      sending[i]->left -= rates[i].value() * next;
      if (sending[i]->left > 1e-9 * block) continue;
      sending[i]->sends = false;
      ++sending[i]->sent;
    }
  }
}

// Neighbours of the ring lie in different leaves, so that the hash puts several on one uplink and
// none on another: each goes on at its own pace. Without contention it takes 15 blocks.
TEST(Collectives, RingsOverUnequalUplinksGoOnAtThePaceOfEachMessage) {
  std::vector<NodeId> across;
  for (NodeId host = 0; host < 4; ++host) {
    for (NodeId leaf = 0; leaf < 4; ++leaf) across.push_back(4 * leaf + host);
  }
  const double bytes = 16e6, block = bytes / 16;
  int uneven = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const std::uint32_t uplinks : {2U, 3U, 4U}) {
      Topology topology = leaf_spine(4, 4, uplinks, seed, speeds(10, 0));
      topology.ring = across;
      const double expected = ring_by_definition(topology, block);
      for (const bool every_rank : {false, true}) {
        const auto found = simulated(Collective::all_gather, bytes, topology, "ring", every_rank);
        EXPECT_NEAR(found.time.value() / expected, 1, 1e-9) << seed << " " << uplinks;
        uneven += found.by_classes ? 0 : 1;
      }
      EXPECT_GT(expected, 15 * block / 10e9);
    }
  }
  EXPECT_GT(uneven, 12 * 3);
}

// [SIM-15] Times over the bound, for each algorithm on each topology.
TEST(Collectives, TakeNoLessThanTheirBound) {
  using enum Collective;
  const Speeds fast = speeds(50, 0);
  for (const Topology& topology :
       {on("switch", 16, fast), on("full", 8, fast), on("torus:4x4", 0, fast),
        on("mesh:4x4", 0, fast), on("torus:4x4x4", 0, fast), on("fat-tree:4x4:2", 0, fast),
        on("sites:2x8", 0, fast), on("switches:4x4", 0, fast), on("cubes:4x4x2", 0, fast)}) {
    for (const Collective op : {all_reduce, all_gather, reduce_scatter, all_to_all}) {
      for (const std::string& algorithm : algorithm_names()) {
        const auto found =
            simulate_collective({op, Bytes(1e6)}, topology, {.algorithm = algorithm});
        if (!found.ok()) continue;
        EXPECT_GE(found->time / found->bound, 1 - 1e-9) << topology.name << " " << algorithm;
      }
      const auto best = simulate_collective({op, Bytes(1e6)}, topology, {});
      ASSERT_TRUE(best.ok());
      EXPECT_FALSE(best->algorithm.empty());
    }
  }
}

// Each block of an all-gather has to come to each rank: as many bytes come in as are not its own.
TEST(Collectives, BringEachRankWhatItNeeds) {
  using enum Collective;
  for (const std::uint32_t ranks : {2U, 3U, 5U, 7U, 8U, 12U, 13U, 16U}) {
    const Topology topology = on("switch", ranks, speeds(1, 0));
    const Call call{all_gather, Bytes(ranks)};
    for (const auto& plan : {ring, bruck, pat, direct}) {
      const Planned planned = plan(call, topology);
      ASSERT_EQ(planned.problem, "");
      EXPECT_DOUBLE_EQ(most_sent(planned.pattern, ranks).value(), ranks - 1) << ranks;
    }
  }
}

// S(n-1)/(nb) times two, one and one half, and the steps of each (torus of n = 64 ranks).
TEST(Torus, AllReduceThreeWays) {
  const double bytes = 64e6, unit = bytes * 63 / 64 / 50e9;
  const Topology torus = on("torus:8x8", 0, speeds(50, 0));
  const auto ring = simulated(Collective::all_reduce, bytes, torus, "ring");
  const auto lines = simulated(Collective::all_reduce, bytes, torus, "dimensions");
  const auto rotated = simulated(Collective::all_reduce, bytes, torus, "rotations");
  EXPECT_NEAR(ring.time.value() / unit, 2, 1e-9);
  EXPECT_NEAR(lines.time.value() / unit, 1, 1e-9);
  EXPECT_NEAR(rotated.time.value() / unit, 0.5, 1e-9);
  EXPECT_EQ(ring.steps, 126U);
  EXPECT_EQ(rotated.steps, 28U);
  EXPECT_EQ(simulate_collective({Collective::all_reduce, Bytes(bytes)}, torus, {})->algorithm,
            "rotations");
}

// With latency: steps times that of a link each.
TEST(Torus, StepsTakeTheLatencyOfALink) {
  const Topology torus = on("torus:8x8", 0, speeds(50, 1));
  const double unit = 64e6 * 63 / 64 / 50e9;
  EXPECT_NEAR(simulated(Collective::all_reduce, 64e6, torus, "rotations").time.value(),
              unit / 2 + 28e-6, 1e-12);
  EXPECT_NEAR(simulated(Collective::all_reduce, 64e6, torus, "ring").time.value(),
              2 * unit + 126e-6, 1e-12);
}

Topology four_nodes() {
  return on("rails:4x8", 0, {{BytesPerSecond(450e9), BytesPerSecond(50e9)}, {Seconds(0)}});
}

Seconds in_chunks(Collective op, double bytes, const Topology& topology,
                  const std::string& algorithm, std::uint32_t chunks) {
  return simulate_collective({op, Bytes(bytes)}, topology,
                             {.algorithm = algorithm, .chunks = chunks})
      ->time;
}

// Two levels: rings within domains and across them.
TEST(Hierarchy, PhasesAddUp) {
  const Topology rails = four_nodes();
  const double bytes = 1e9;
  EXPECT_NEAR(in_chunks(Collective::all_reduce, bytes, rails, "hierarchical", 1).value(),
              2 * bytes * 7 / 8 / 450e9 + 2 * bytes / 8 * 3 / 4 / 50e9, 1e-12);
  EXPECT_NEAR(simulated(Collective::all_to_all, bytes, rails, "two-level").time.value(),
              bytes * 7 / 8 / 450e9 + bytes * 3 / 4 / 50e9, 1e-12);
}

// [SIM-50] Many chunks: the longer of both phases, and the other's first chunk on either side.
TEST(Hierarchy, PhasesOfChunksRunBesideEachOther) {
  const Topology rails = four_nodes();
  const double bytes = 1e9, within = bytes * 7 / 8 / 450e9, across = bytes / 8 * 3 / 4 / 50e9;
  for (const std::uint32_t chunks : {4U, 64U}) {
    EXPECT_NEAR(in_chunks(Collective::reduce_scatter, bytes, rails, "hierarchical", chunks).value(),
                std::max(within, across) + std::min(within, across) / chunks, 1e-12);
  }
  const auto best = simulated(Collective::all_reduce, bytes, rails, "hierarchical");
  EXPECT_EQ(best.chunks, 256);
  EXPECT_NEAR(best.time.value(), 2 * std::max(within, across), 0.01 * best.time.value());
}

// [SIM-50] Where messages within domains and across them share links there are no chunks beside
// each other, and with latencies few of them are best.
TEST(Hierarchy, HasChunksWhereTheyPay) {
  const Topology tree = on("fat-tree:4x4:2", 0, speeds(50, 0));
  EXPECT_EQ(simulated(Collective::all_reduce, 1e9, tree, "hierarchical").chunks, 0);
  EXPECT_FALSE(
      simulate_collective({Collective::all_reduce, Bytes(1e9)}, tree, {.algorithm = "themis"})
          .ok());
  const Topology slow =
      on("rails:4x8", 0, {{BytesPerSecond(450e9), BytesPerSecond(50e9)}, {Seconds(1e-4)}});
  EXPECT_LE(simulated(Collective::all_reduce, 1e6, slow, "hierarchical").chunks, 2);
}

// [SIM-50] Two dimensions, 1000 MB: in the fixed order 17.5 and 9.375 ms, the larger dimension's
// time; balanced 9.84375 and 6.640625 ms, which is the bound: half of the data, and 31/45 of it,
// begin along the first dimension (the solution of the balance by hand).
TEST(Themis, KeepsBothDimensionsBusy) {
  struct Case {
    const char* form;
    double first, second, fixed_ms, balanced_ms, share;
  };
  for (const Case& c : {Case{"switches:8x8", 100, 100, 17.5, 9.84375, 0.5},
                        Case{"switches:16x16", 200, 100, 9.375, 6.640625, 31.0 / 45}}) {
    const Topology grid = on(
        c.form, 0, {{BytesPerSecond(c.first * kGB), BytesPerSecond(c.second * kGB)}, {Seconds(0)}});
    const auto fixed = simulated(Collective::all_reduce, 1e9, grid, "hierarchical");
    const auto balanced = simulated(Collective::all_reduce, 1e9, grid, "themis");
    EXPECT_NEAR(fixed.time.value() * 1e3, c.fixed_ms, 0.01 * c.fixed_ms) << c.form;
    EXPECT_NEAR(balanced.time.value() * 1e3, c.balanced_ms, 1e-3 * c.balanced_ms) << c.form;
    EXPECT_NEAR(balanced.bound.value() * 1e3, c.balanced_ms, 1e-9) << c.form;
    EXPECT_NEAR(*balanced.chunks_along_first / balanced.chunks, c.share, 0.02) << c.form;
    // An all-gather alone is half of it.
    const auto half = simulated(Collective::all_gather, 1e9, grid, "themis");
    EXPECT_NEAR(half.time.value() * 2e3, c.balanced_ms, 0.01 * c.balanced_ms) << c.form;
  }
}

// A ring for each rank of a domain leaves it at another rank: all ports across carry as much, and
// 2S(n-1)/n goes over the four ports that leave a domain (the slower of the levels).
TEST(Rings, LeaveADomainAtAllOfItsRanks) {
  for (const char* form : {"rails:2x4", "rails:4x4", "switches:4x4"}) {
    const Topology nodes =
        on(form, 0, {{BytesPerSecond(400e9), BytesPerSecond(10e9)}, {Seconds(0)}});
    const double n = nodes.ranks;
    EXPECT_NEAR(simulated(Collective::all_reduce, 1e9, nodes, "rings").time.value(),
                2e9 * (n - 1) / n / 4 / 10e9, 1e-9)
        << form;
  }
}

// [SIM-17] Made for the links of nine meshes and tori: not below the bound, and at most 1 % above
// what TACOS' own tests expect; with the chunks of those tests 1.6 % (the 7 x 10 mesh; else 0).
TEST(Synthesis, GathersWithinOnePercentOfTacos) {
  const std::string file = source_dir() + "/tests/oracles/simulation/allgather_mesh_torus.csv";
  const Csv table = parse_csv(read_file(file).value(), "allgather_mesh_torus.csv").value();
  const std::vector<std::string> forms = {"mesh:5x5",    "mesh:10x10", "mesh:5x5",
                                          "mesh:8x5",    "mesh:7x10",  "torus:3x3x3",
                                          "torus:4x2x3", "mesh:3x3x3", "mesh:4x2x3"};
  ASSERT_EQ(table.rows.size(), forms.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto cell = [&](const char* column) {
      return table.rows[i].cells[table.column(column).value()];
    };
    constexpr double kGiB = 1073741824;
    Speeds of{{}, {Seconds(std::stod(cell("link_latency_us")) * 1e-6)}};
    std::istringstream rates(cell("link_GiBps"));
    for (std::string each; std::getline(rates, each, '/');) {
      of.bandwidth.emplace_back(std::stod(each) * kGiB);
    }
    const Topology topology = on(forms[i], 0, of);
    const Call call{Collective::all_gather, Bytes(std::stod(cell("output_GiB")) * kGiB)};
    const auto chunks = static_cast<std::uint32_t>(std::stod(cell("chunks_per_npu")));
    const double bound = std::stod(cell("lower_bound_us")),
                 most = std::stod(cell("tacos_expected_us"));
    for (const CollectiveOptions& options :
         {CollectiveOptions{.algorithm = "synthesised", .chunks = chunks}, CollectiveOptions{}}) {
      const auto found = simulate_collective(call, topology, options);
      ASSERT_TRUE(found.ok());
      EXPECT_NEAR(found->bound.value() * 1e6, bound, 1e-5 * bound) << cell("topology");
      EXPECT_GE(found->time.value() * 1e6, bound * (1 - 1e-5)) << cell("topology");
      const double over = options.chunks > 0 ? 1.016 : 1.01;
      EXPECT_LE(found->time.value() * 1e6, most * over) << cell("topology");
    }
  }
}

Topology dgx_1() {
  const std::string file = source_dir() + "/examples/dgx-1.toml";
  auto read = read_topology_file(read_document(file).value());
  EXPECT_TRUE(read.ok());
  return std::move(read).value();
}

// [SIM-55] DGX-1, all-gather, (steps, rounds, chunks) as the synthesis guide of MSCCL has them: two
// steps are the fewest, (2,4,3) does not exist, and (3,7,6) meets the bound of 7/6 rounds a chunk.
TEST(Stepwise, FindsWhatExistsOnADgx1AndRefusesWhatDoesNot) {
  const Topology on_dgx_1 = dgx_1();
  EXPECT_EQ(diameter_of(on_dgx_1), 2U);
  using Form = StepwiseForm;
  for (const Form& form :
       {Form{2, 2, 1}, Form{2, 3, 2}, Form{3, 4, 3}, Form{3, 5, 4}, Form{3, 6, 5}, Form{3, 7, 6}}) {
    const auto found = gather_stepwise(form, on_dgx_1);
    ASSERT_TRUE(found.has_value()) << form.steps << form.rounds << form.chunks;
    EXPECT_FALSE(is_impossible(form, on_dgx_1));
    // Each rank hears 7 blocks, no chunk twice.
    EXPECT_EQ(found->messages, 8U * 7 * form.chunks);
  }
  for (const Form& form : {Form{1, 6, 1}, Form{2, 4, 3}, Form{3, 6, 6}, Form{3, 3, 3}}) {
    EXPECT_TRUE(is_impossible(form, on_dgx_1)) << form.steps << form.rounds << form.chunks;
    EXPECT_FALSE(gather_stepwise(form, on_dgx_1).has_value());
  }
}

// Short messages take the two steps, long ones the rounds of the bound: 7/6 of a block over one
// link of 25 GB/s.
TEST(Stepwise, TradesStepsForRounds) {
  const Topology on_dgx_1 = dgx_1();
  const double latency = on_dgx_1.links.front().latency.value();
  const auto small = simulated(Collective::all_gather, 8e3, on_dgx_1, "stepwise");
  EXPECT_EQ(small.steps, 2U);
  const auto large = simulated(Collective::all_gather, 8e9, on_dgx_1, "stepwise");
  EXPECT_EQ(large.steps, 3U);
  EXPECT_EQ(large.chunks, 6);
  EXPECT_NEAR(large.time.value(), 3 * latency + 7.0 / 6 * 1e9 / 25e9, 1e-9);
  EXPECT_NEAR((large.time - Seconds(3 * latency)) / large.bound, 1, 1e-9);
}

}  // namespace
}  // namespace headway::network

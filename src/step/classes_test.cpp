// Classes of a network's layers, and its tables, split over ranks in ways of their own.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "step/case_for_test.hpp"
#include "step/forward/tables.hpp"

namespace headway {
namespace {

using namespace testing;

void split(Case& c, ModuleClass which, Strategy strategy) {
  c.layout.classes[static_cast<std::size_t>(which)] = strategy;
}

std::vector<Call> calls_of(const Step& step) {
  std::vector<Call> out;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (Call call : calls_in(step.blocks[i].items)) {
      call.count *= static_cast<double>(step.stages[0].counts[i]);
      out.push_back(call);
    }
  }
  for (const Call& call : calls_in(step.stages[0].items)) out.push_back(call);
  return out;
}

double flops_of(const Step& step) {
  double out = 0;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (const Op& op : only<Op>(step.blocks[i].items)) {
      out += static_cast<double>(step.stages[0].counts[i]) * work(op).value();
    }
  }
  return out;
}

double weights_of_class(const Model& model, ModuleClass which) {
  double out = 0;
  for (const std::uint8_t kind : model.pattern) {
    for (const NetworkModule& module : model.kinds[kind].modules) {
      if (module.of == which) out += module_weights(module);
    }
  }
  return out;
}

constexpr ModuleClass kClasses[] = {ModuleClass::bottom, ModuleClass::top, ModuleClass::interaction,
                                    ModuleClass::attention, ModuleClass::feed_forward};

// What a rank multiplies is the same part of the whole however a class is split: all samples of n
// ranks against an n-th of the columns.
TEST(Classes, RunTheSameFlopsHoweverTheyAreSplit) {  // [STEP-31]
  for (const auto& [model, which] : {std::pair("dlrm-dcnv2", ModuleClass::bottom),
                                     std::pair("dlrm-dcnv2", ModuleClass::interaction),
                                     std::pair("vit-l", ModuleClass::attention),
                                     std::pair("vit-l", ModuleClass::feed_forward)}) {
    Case whole = case_of_network(model, 16, 8);
    whole.job.fused = false;  // of what is not split alone rows are padded
    const double plain = flops_of(whole.lowered());
    for (std::size_t i = 1; i < kStrategyNames.size(); ++i) {
      if (is_spread(static_cast<Strategy>(i))) continue;  // of experts
      Case c = whole;
      split(c, which, static_cast<Strategy>(i));
      expect_legal(c);
      EXPECT_NEAR(flops_of(c.lowered()), plain, 1e-9 * plain) << model << " " << kStrategyNames[i];
    }
  }
}

// Sharded over all ranks: gathered forward and backward, gradients scattered, each once; nothing of
// them is left to the reduction of the rest.
TEST(Classes, ShardedAreGatheredTwiceAndScatteredOnce) {  // [STEP-31]
  const Case plain = case_of_network("vit-l", 16, 8);
  const double weights = weights_of_class(plain.model, ModuleClass::attention);
  Case c = plain;
  split(c, ModuleClass::attention, Strategy::sharded);
  const std::vector<Call> before = calls_of(plain.lowered()), after = calls_of(c.lowered());
  const double gathered = gathered_bytes(c.job).value(), reduced = reduced_bytes(c.job).value();
  EXPECT_NEAR(bytes_of(after, CollectiveOp::all_gather, Group::dp), 2 * weights * gathered, 1);
  EXPECT_NEAR(bytes_of(after, CollectiveOp::reduce_scatter, Group::dp), weights * reduced, 1);
  EXPECT_NEAR(bytes_of(before, CollectiveOp::all_reduce, Group::dp) -
                  bytes_of(after, CollectiveOp::all_reduce, Group::dp),
              weights * reduced, 1e-6 * weights);
}

// Within a node the weights go round once, their gradients' parts are summed across nodes.
TEST(Classes, ShardedInNodesSumTheirPartsAcrossThem) {  // [STEP-31]
  Case c = case_of_network("vit-l", 16, 8);
  const double weights = weights_of_class(c.model, ModuleClass::feed_forward);
  split(c, ModuleClass::feed_forward, Strategy::sharded_node);
  const std::vector<Call> calls = calls_of(c.lowered());
  const double reduced = reduced_bytes(c.job).value();
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::reduce_scatter, Group::dp_node), weights * reduced, 1);
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::all_reduce, Group::dp_nodes), weights / 8 * reduced, 1);
}

// One layer of attention and feed-forward part of ViT-L of b samples a rank and 197 tokens: each
// enters and leaves as n·b·197·1024 values, gathered and scattered, backward the other way round.
TEST(Classes, OfTensorsGatherSamplesAndScatterSums) {  // [STEP-31]
  Case c = case_of_network("vit-l", 16, 8);
  split(c, ModuleClass::attention, Strategy::tensor_node);
  const std::vector<Call> calls = calls_of(c.lowered());
  const double tensor = 8.0 * 8 * 197 * 1024 * 2;
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    EXPECT_NEAR(bytes_of(calls, op, Group::dp_node), 24 * 2 * tensor, 1);
  }
  const double weights = weights_of_class(c.model, ModuleClass::attention);
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::all_reduce, Group::dp_nodes),
              weights / 8 * reduced_bytes(c.job).value(), 1);
}

// Weights, gradients and states of what is split over n ranks are an n-th of theirs.
TEST(Classes, HoldTheirPartAlone) {  // [STEP-31]
  for (const Strategy strategy : {Strategy::sharded, Strategy::tensor}) {
    Case c = case_of_network("vit-l", 16, 8);
    const double all = c.lowered().stages[0].parameters;
    const double weights = weights_of_class(c.model, ModuleClass::feed_forward);
    split(c, ModuleClass::feed_forward, strategy);
    EXPECT_NEAR(c.lowered().stages[0].parameters, all - weights * 15 / 16, 1);
  }
}

RC_GTEST_PROP(Classes, AnyStrategiesThatAreLegalKeepFlopsAndHoldNoMore, ()) {  // [STEP-31]
  const auto model = *rc::gen::element<std::string>("dlrm-dcnv2", "dlrm-v1", "vit-b", "resnet-50");
  Case c = case_of_network(model, *rc::gen::element<std::int64_t>(8, 16, 32), 4);
  c.job.fused = false;  // of what is not split alone rows are padded
  const Step plain = c.lowered();
  for (const ModuleClass which : kClasses) {
    split(c, which, static_cast<Strategy>(*rc::gen::inRange(0, 9)));
    if (!is_legal(c)) split(c, which, Strategy::usual);
  }
  RC_ASSERT(is_legal(c));
  const Step step = c.lowered();
  RC_ASSERT(std::abs(flops_of(step) - flops_of(plain)) < 1e-9 * flops_of(plain));
  RC_ASSERT(step.stages[0].parameters <= plain.stages[0].parameters * (1 + 1e-12));
}

// As many loads as ranks: each has one, and the heaviest decides. Equal ones divide, rounded up.
TEST(Tables, TheFullestRankHasTheHeaviestOrWhatDoesNotDivide) {  // [STEP-31]
  EXPECT_DOUBLE_EQ(fullest_share({1, 2, 5}, 3), 5 / (8.0 / 3));
  EXPECT_DOUBLE_EQ(fullest_share({1, 1, 1, 1, 1}, 2), 3 / 2.5);
  EXPECT_DOUBLE_EQ(fullest_share({3, 3, 2, 2, 2}, 2), 7 / 6.0);  // the best is 6: known of the rule
  EXPECT_DOUBLE_EQ(fullest_share({4, 4}, 8), 4);
  EXPECT_DOUBLE_EQ(fullest_share({}, 8), 1);
}

// No rank can have less than the mean or the heaviest; the heaviest first come within 4/3 of the
// best (Graham 1969), which is no less than either.
RC_GTEST_PROP(Tables, TheFullestRankIsNearTheLeast, ()) {  // [STEP-31]
  const auto loads = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(1, 1000), [](int x) { return static_cast<double>(x); })));
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 40);
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  const double mean = sum / static_cast<double>(ranks);
  const double heaviest = *std::max_element(loads.begin(), loads.end());
  const double least = ranks == 1 ? 1 : std::max(1.0, heaviest / mean);
  const double found = fullest_share(loads, ranks);
  RC_ASSERT(found >= least * (1 - 1e-12));
  // A schedule of list order: no more than mean and heaviest together.
  RC_ASSERT(found <= 1 + heaviest / mean + 1e-12);
}

Case tables_case(TableScheme scheme, std::int64_t ranks = 16) {
  Case c = case_of_network("dlrm-dcnv2", ranks, 512);
  c.job.framework = framework_from("torchrec").value();
  c.layout.tables.scheme = scheme;
  c.layout.tables.copy_below = 64;  // smaller ones are copied
  return c;
}

// Of DLRM-DCNv2 21 tables have 64 rows and more; 512 samples a rank, width 128, 2 bytes. Pooled
// sums go out and their gradients come back; row-wise those of all samples are scattered.
TEST(Tables, TakeTheCallsOfTheirScheme) {  // [STEP-31]
  double tables = 0;
  const Model model = load_model("dlrm-dcnv2").value();
  for (const NetworkModule& module : model.kinds[0].modules) {
    const auto* bags = std::get_if<EmbeddingBags>(&module.shape);
    if (bags == nullptr) continue;
    for (const EmbeddingTable& each : bags->tables) {
      tables += each.rows >= 64 ? 1 : 0;
    }
  }
  const double pooled = 512 * tables * 128 * 2;
  const auto of = [&](TableScheme scheme) { return calls_of(tables_case(scheme).lowered()); };
  const auto sums = [](const Call& call) {
    return call.op == CollectiveOp::all_to_all && call.dtype == Precision::fp16;
  };
  for (const TableScheme scheme : {TableScheme::table_wise, TableScheme::column_wise}) {
    EXPECT_NEAR(bytes_of(of(scheme), sums), 2 * pooled, 1);
  }
  const std::vector<Call> rows = of(TableScheme::row_wise);
  EXPECT_NEAR(bytes_of(rows, CollectiveOp::reduce_scatter, Group::ep), 16 * pooled, 1);
  EXPECT_NEAR(bytes_of(rows, CollectiveOp::all_gather, Group::ep), 16 * pooled, 1);
  for (const TableScheme scheme : {TableScheme::table_row_wise, TableScheme::grid}) {
    const std::vector<Call> calls = of(scheme);
    EXPECT_NEAR(bytes_of(calls, CollectiveOp::reduce_scatter, Group::dp_node), 8 * pooled, 1);
    EXPECT_NEAR(bytes_of(calls, CollectiveOp::all_to_all, Group::dp_nodes), 2 * pooled, 1);
  }
}

// Copies: no exchange, and gradients as large as the tables among those of the rest.
TEST(Tables, ThatAreCopiedAreReducedWithTheRest) {  // [STEP-31]
  Case c = tables_case(TableScheme::row_wise);
  const double before = bytes_of(calls_of(c.lowered()), CollectiveOp::all_reduce, Group::dp);
  double more = 0;
  for (const NetworkModule& module : c.model.kinds[0].modules) {
    const auto* bags = std::get_if<EmbeddingBags>(&module.shape);
    if (bags == nullptr) continue;
    for (const EmbeddingTable& each : bags->tables) {
      if (each.rows >= 64 && each.rows < 10'000) more += static_cast<double>(each.rows) * 128;
    }
  }
  c.layout.tables.copy_below = 10'000;
  const double after = bytes_of(calls_of(c.lowered()), CollectiveOp::all_reduce, Group::dp);
  EXPECT_NEAR(after - before, more * reduced_bytes(c.job).value(), 1);
}

// Whole on 16 ranks: the five largest tables have 40 million rows each, of 12.8 million in the mean
// rank, and no two of these share a rank.
TEST(Tables, WholeOnOneRankFillIt) {  // [STEP-31]
  Case c = case_of_network("dlrm-dcnv2", 16, 512);
  c.layout.tables.scheme = TableScheme::table_wise;
  EXPECT_NEAR(c.lowered().blocks[0].held.tables, 40e6 * 128, 1);
  c.layout.tables.cached = 0.25;
  EXPECT_NEAR(c.lowered().blocks[0].held.tables, 10e6 * 128, 1);
  // Three of four look-ups of 214 a sample come over the host's link, of the 16 ranks' samples
  // those of the fullest one.
  EXPECT_GT(c.lowered().blocks[0].host_transfer, Bytes(0));
  c.layout.tables.hits = 1;
  EXPECT_EQ(c.lowered().blocks[0].host_transfer, Bytes(0));
}

// Tables that are named lie as their list says, whatever their rows: of the first five all but the
// third are exchanged.
TEST(Tables, ThatAreNamedLieAsTheirListSays) {  // [STEP-31]
  Case c = case_of_network("dlrm-dcnv2", 16, 512);
  c.layout.tables.copy_below = 1'000'000'000;  // all others are copied
  c.layout.tables.named[static_cast<std::size_t>(TableScheme::table_wise)] = 0b11011;
  expect_legal(c);
  double pooled = 0;
  for (const Call& call : calls_of(c.lowered())) {
    const bool exchange = call.op == CollectiveOp::all_to_all && call.phase == Phase::backward;
    if (exchange) pooled += call.bytes.value();
  }
  EXPECT_EQ(pooled, 512.0 * 4 * 128 * 2);
  c.layout.tables.named[static_cast<std::size_t>(TableScheme::row_wise)] = 0b1 | 1ULL << 26;
  const Problems found = check(c);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].message.find("they are 0 to 25"), std::string::npos) << found[0].message;
  EXPECT_NE(found[1].message.find("another list names"), std::string::npos) << found[1].message;
}

// Ten top layers of 16 experts of 3,994 x 3,994, of which each sample goes through two.
TEST(Classes, OfExpertsGoToTheirsAndBack) {  // [STEP-31]
  Case c = case_of_network("dlrm-a-experts", 16, 512);
  const double plain = flops_of(c.lowered());
  const double weights = weights_of_class(c.model, ModuleClass::experts);
  EXPECT_EQ(weights, 10.0 * 16 * 3994 * 3994);
  split(c, ModuleClass::experts, Strategy::spread_node);
  expect_legal(c);
  const Step step = c.lowered();
  EXPECT_NEAR(flops_of(step), plain, 1e-9 * plain);
  // Rows in and rows back, forward and backward; an eighth of the weights is summed across nodes.
  const double rows = 512.0 * 2 * 3994 * 2;
  EXPECT_NEAR(bytes_of(calls_of(step), CollectiveOp::all_to_all, Group::dp_node), 4 * rows, 1);
  EXPECT_NEAR(bytes_of(calls_of(step), CollectiveOp::all_reduce, Group::dp_nodes),
              weights / 8 * reduced_bytes(c.job).value(), 1);
  split(c, ModuleClass::experts, Strategy::tensor);
  split(c, ModuleClass::top, Strategy::spread);
  const Problems found = check(c);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE((found[0].message + found[1].message).find("are not split by tensors"),
            std::string::npos);
  c.layout.dp = 24;
  c.job.global_batch = 24 * 512;
  c.layout.classes = {};
  spread_tables(c.model, c.cluster, c.layout);
  split(c, ModuleClass::experts, Strategy::spread);
  const Problems odd = check(c);
  ASSERT_EQ(odd.size(), 1U);
  EXPECT_NE(odd[0].message.find("must divide their number, 16"), std::string::npos)
      << odd[0].message;
}

// A step of TorchRec on 8 V100 (../shared/traces/execution_trace/dlrm_v100x8): 24 tables of 16
// columns lie table-wise, 16 samples a rank. It makes five all-to-alls: how much goes to each rank
// (24 numbers of 8 bytes, as recorded), how many rows each sample has (384), which rows, the sums
// forward, 6,144 values of 4 bytes as recorded, and their gradients.
TEST(Tables, MakeTheFiveExchangesThatARecordingHas) {  // [STEP-31]
  Case c = case_of_network("dlrm-v1", 8, 16);
  for (Layer& layer : c.model.kinds) {
    for (NetworkModule& module : layer.modules) {
      if (auto* bags = std::get_if<EmbeddingBags>(&module.shape)) {
        bags->tables.assign(24, {.rows = 1000, .pooling = 2});
        bags->width = 16;
      }
    }
  }
  c.job.framework = *framework_from("torchrec");
  c.job.recipe = recipe_from("fp32");
  c.layout.tables.scheme = TableScheme::table_wise;
  std::vector<double> sizes;
  for (const Call& call : calls_of(c.lowered())) {
    if (call.op == CollectiveOp::all_to_all) sizes.push_back(call.bytes.value());
  }
  ASSERT_EQ(sizes.size(), 5U);
  EXPECT_EQ(sizes[0], 24.0 * 8);
  EXPECT_EQ(sizes[1], 384.0 * 8);  // recorded as 32-bit numbers
  EXPECT_EQ(sizes[3], 6144.0 * 4);
  EXPECT_EQ(sizes[4], 6144.0 * 4);
}

// The same recording's three all-reduces: of the top MLP's last three layers, 512 x 512, 512 x 256,
// 256 x 1 with their offsets, which DistributedDataParallel sends first (394,241 numbers); of the
// two tables of 3 and 4 rows, which lie on every rank (112); of what is left, 367 features x 512,
// and of the bottom MLP of 13, 256, 128 and 16 (226,960).
TEST(Tables, ThatAreCopiedAreReducedByThemselves) {  // [STEP-31]
  Case c = case_of_network("dlrm-v1", 8, 16);
  std::vector<std::pair<std::int64_t, std::int64_t>> widths = {
      {13, 256}, {256, 128}, {128, 16}, {367, 512}, {512, 512}, {512, 256}, {256, 1}};
  std::size_t next = 0;
  for (Layer& layer : c.model.kinds) {
    std::erase_if(layer.modules, [&](const NetworkModule& module) {
      return std::holds_alternative<Projection>(module.shape) && next++ >= widths.size();
    });
  }
  next = 0;
  for (Layer& layer : c.model.kinds) {
    for (NetworkModule& module : layer.modules) {
      if (auto* p = std::get_if<Projection>(&module.shape)) {
        std::tie(p->in, p->out) = widths.at(next++);
      }
      if (auto* bags = std::get_if<EmbeddingBags>(&module.shape)) {
        bags->tables.assign(26, {.rows = 1000, .pooling = 9});
        bags->tables[5].rows = 3;
        bags->tables[16].rows = 4;
        bags->width = 16;
      }
    }
  }
  ASSERT_EQ(next, widths.size());
  c.job.framework = *framework_from("torchrec");
  c.job.recipe = recipe_from("fp32");
  c.layout.tables.scheme = TableScheme::table_wise;
  c.layout.tables.copy_below = 5;
  std::vector<double> sizes;
  for (const Call& call : calls_of(c.lowered())) {
    if (call.op == CollectiveOp::all_reduce) sizes.push_back(call.bytes.value());
  }
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes, (std::vector<double>{112.0 * 4, 226'960.0 * 4, 394'241.0 * 4}));
}

// 8,192 samples of a rank read two tables by 10 look-ups each: of 10^9 rows all are others; of
// 1,000 rows no more than these, each once. Rows of 16 numbers of 4 bytes, indices of 8, sums of 2
// bytes; backward the rows are read and written.
TEST(Tables, AreReadOnceARowHoweverOftenItIsLookedUp) {  // [STEP-31]
  const double samples = 8192;
  const auto moved = [&](std::int64_t rows) {
    Case c = case_of_network("dlrm-v1", 1, static_cast<std::int64_t>(samples));
    for (Layer& layer : c.model.kinds) {
      std::erase_if(layer.modules, [](const NetworkModule& module) {
        return !std::holds_alternative<EmbeddingBags>(module.shape);
      });
      for (NetworkModule& module : layer.modules) {
        auto& bags = std::get<EmbeddingBags>(module.shape);
        bags.tables.assign(2, {.rows = rows, .pooling = 10});
        bags.width = 16;
      }
    }
    std::pair<double, double> out;
    const Step step = c.lowered();
    for (const Block& block : step.blocks) {
      for (const Op& op : only<Op>(block.items)) {
        const auto* pass = std::get_if<Pass>(&op.shape);
        if (pass == nullptr || op.phase == Phase::optimizer) continue;
        (op.phase == Phase::forward ? out.first : out.second) += pass->moved.value();
      }
    }
    return out;
  };
  const double look_ups = 2 * 10 * samples, sums = samples * 2 * 16 * 2;
  const auto [forward, backward] = moved(1'000'000'000);
  EXPECT_NEAR(forward, look_ups * (16 * 4 + 8) + sums, 1e-3 * forward);
  EXPECT_NEAR(backward, look_ups * (2 * 16 * 4 + 8) + sums, 1e-3 * backward);
  const auto [small, back] = moved(1000);
  EXPECT_NEAR(small, 2 * 1000.0 * 16 * 4 + look_ups * 8 + sums, 1);
  EXPECT_NEAR(back, 2 * 2 * 1000.0 * 16 * 4 + look_ups * 8 + sums, 1);
}

TEST(Tables, AndClassesThatCannotBeSplitSoAreRefusedTogether) {
  Case c = case_of_network("dlrm-dcnv2", 16, 512);
  c.layout.tables.scheme = TableScheme::row_wise;  // tables of 3, 4, 10 and 14 rows
  split(c, ModuleClass::convolution, Strategy::sharded);
  split(c, ModuleClass::top, Strategy::tensor);  // the last projection has one column
  const Problems found = check(c);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NE(found[0].message.find("4 of 26 tables have fewer rows"), std::string::npos)
      << found[0].message;
  EXPECT_NE(found[1].message.find("has no convolutions"), std::string::npos);
  EXPECT_NE(found[2].message.find("divide 1,"), std::string::npos) << found[2].message;
}

}  // namespace
}  // namespace headway

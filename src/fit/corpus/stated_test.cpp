#include "fit/corpus/stated.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fit/corpus/run_for_test.hpp"

namespace headway {
namespace {

Corpus corpus_with(const CorpusCells& changed, const std::string& header,
                   const std::string& cells) {
  std::string table = corpus_table({row_with(changed)});
  table.insert(table.size() - 1, cells);
  table.insert(table.find('\n'), header);
  return read_corpus(table, "x").value();
}

// Columns that a table may have besides, in the words of the fields of a run.
TEST(CorpusStated, TheMachineOfARowIsAsItsOwnColumnsSay) {
  const auto read = [](const std::string& header, const std::string& cells) {
    return corpus_with({{"n_accel", "16"}}, header, cells);
  };
  Shelf shelf;
  const auto plain = run_of(read("", "").rows.at(0), shelf);
  const auto set = run_of(read(",board_power,memory_bandwidth,network,network_bandwidth",
                               ",500 W,3 TB/s,roce,8 x 200 Gb/s")
                              .rows.at(0),
                          shelf);
  ASSERT_TRUE(plain.ok() && set.ok());
  EXPECT_EQ(plain->cluster.accelerator.power_limit(), Watts(700));
  EXPECT_EQ(set->cluster.accelerator.power_limit(), Watts(500));
  EXPECT_EQ(set->cluster.accelerator.memory_bandwidth, BytesPerSecond(3e12));
  EXPECT_EQ(set->cluster.levels[1].network, "roce");
  EXPECT_DOUBLE_EQ(set->cluster.levels[1].bandwidth.value(), 25e9);
  EXPECT_TRUE(assumes(plain, "inter_node_network_gbps_per_accel=dgx-h100"));
  EXPECT_FALSE(assumes(set, "inter_node_network_gbps_per_accel=dgx-h100"));
  EXPECT_LT(set->machine->calibration.kernels.sustained,
            plain->machine->calibration.kernels.sustained);
  EXPECT_EQ(run_of(read(",board_power", ",").rows.at(0), shelf)->machine, plain->machine);
  const auto wrong = run_of(read(",board_power", ",500").rows.at(0), shelf);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(where_text(wrong.problems().front()), "bad cell: board-power");
}

TEST(CorpusStated, WhatDecidesIsAsItsOwnColumnsSayAndWinsOverWhatIsAssumed) {
  Shelf shelf;
  const CorpusCells unknown = {
      {"framework", "ColossalAI"}, {"flash_attention", ""}, {"pp", "4"}, {"cp", "1"}, {"vpp", "1"}};
  const auto silent = run_of(corpus_with(unknown, "", "").rows.at(0), shelf);
  ASSERT_TRUE(silent.ok());
  EXPECT_FALSE(silent->job.fused);
  EXPECT_TRUE(assumes(silent, "fused=0") && assumes(silent, "overlap_gradients=off"));
  const auto stated = run_of(corpus_with(unknown,
                                         ",attention,fused,overlap_gradients,overlap_tensor,"
                                         "schedule,split_vocabulary",
                                         ",flash1,1,on,off,gpipe,1")
                                 .rows.at(0),
                             shelf);
  ASSERT_TRUE(stated.ok()) << stated.problems().front().message;
  EXPECT_EQ(stated->job.attention, AttentionKernel::flash1);
  EXPECT_TRUE(stated->job.fused);
  EXPECT_EQ(stated->layout.overlap_gradients, Choice::on);
  EXPECT_EQ(stated->layout.overlap_tensor, Choice::off);
  EXPECT_EQ(stated->layout.schedule, Schedule::gpipe);
  EXPECT_TRUE(stated->layout.split_vocabulary);
  EXPECT_FALSE(assumes(stated, "fused=0") || assumes(stated, "overlap_gradients=off"));
  EXPECT_TRUE(std::none_of(stated->assumed.begin(), stated->assumed.end(),
                           [](const auto& each) { return each.starts_with("flash_attention"); }));
  // What was not stated stays assumed.
  EXPECT_TRUE(assumes(stated, "overlap_parameters=off"));
}

TEST(CorpusStated, AStatedDegreeOfExpertsIsHeldAgainstTheLayout) {
  Shelf shelf;
  const CorpusCells experts = {{"framework", "Megatron-LM"},
                               {"model_name", "Mixtral-8x7B"},
                               {"n_experts", "8"},
                               {"top_k", "2"},
                               {"tp", "2"},
                               {"cp", "1"},
                               {"ep", "4"}};
  const auto two = run_of(corpus_with(experts, ",etp", ",2").rows.at(0), shelf);
  ASSERT_TRUE(two.ok()) << two.problems().front().message;
  EXPECT_EQ(two->layout.etp, 2);
  const auto three = run_of(corpus_with(experts, ",etp", ",3").rows.at(0), shelf);
  ASSERT_FALSE(three.ok());
  EXPECT_EQ(where_text(three.problems().front()).find("illegal layout"), 0U);
}

// `compiled` is of frameworks whose kernels a compiler fuses or nobody does; Megatron's are its
// own.
TEST(CorpusStated, TheColumnCompiledSaysWhatIsFused) {
  Shelf shelf;
  const auto fused = [&](const char* framework, const char* compiled) {
    const auto run =
        run_of(corpus_with({{"framework", framework}}, ",compiled", std::string(",") + compiled)
                   .rows.at(0),
               shelf);
    return run.ok() && run->job.fused;
  };
  EXPECT_TRUE(fused("torchtitan", ""));
  EXPECT_FALSE(fused("torchtitan", "0"));
  EXPECT_TRUE(fused("Megatron-LM", "0"));
  EXPECT_FALSE(fused("nanotron", "0"));
  EXPECT_TRUE(fused("nanotron", "1"));
}

}  // namespace
}  // namespace headway

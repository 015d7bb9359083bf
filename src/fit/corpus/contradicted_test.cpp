#include "fit/corpus/contradicted.hpp"

#include <gtest/gtest.h>

#include "fit/corpus/table_for_test.hpp"

namespace headway {
namespace {

// A row that ran in `gb` of 80, and one out of memory that differs from it by `cells`.
const CorpusRow* contradicting(const std::string& gb, const CorpusCells& cells) {
  CorpusCells ran = complete_row();
  ran["dp"] = "2";
  ran["tp"] = "2";
  ran["pp"] = "2";
  ran["micro_batch"] = "2";
  ran["grad_accum"] = "8";
  ran["memory_gb_reported"] = gb;
  CorpusCells burst = ran;
  burst["id"] = "burst";
  burst["outcome"] = "oom";
  burst["memory_gb_reported"] = "";
  for (const auto& [name, value] : cells) burst[name] = value;
  static std::vector<CorpusRow> rows;  // outlives the answer
  rows = read_corpus(corpus_table({burst, ran}), "t.csv")->rows;
  const auto found = larger_that_ran(rows);
  EXPECT_EQ(found[1], nullptr) << "it ran";
  return found[0];
}

TEST(Contradicted, ByTheSameRunThatRan) {
  const CorpusRow* larger = contradicting("40", {});
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(larger->id, "a-1");
}

TEST(Contradicted, ByALargerModelAndFewerRanks) {
  for (const CorpusCells& less : {CorpusCells{{"d_model", "2048"}},
                                  {{"layers", "16"}},
                                  {{"micro_batch", "1"}},
                                  {{"tp", "4"}},
                                  {{"dp", "8"}},
                                  {{"grad_accum", "2"}},
                                  {{"seq_len", "1024"}}}) {
    EXPECT_NE(contradicting("40", less), nullptr) << less.begin()->first;
  }
}

TEST(Contradicted, NotByARunThatHoldsLessOfAnything) {
  for (const CorpusCells& more : {CorpusCells{{"d_model", "8192"}},
                                  {{"layers", "64"}},
                                  {{"micro_batch", "4"}},
                                  {{"tp", "1"}},
                                  {{"dp", "1"}},
                                  {{"seq_len", "65536"}}}) {
    EXPECT_EQ(contradicting("40", more), nullptr) << more.begin()->first;
  }
}

TEST(Contradicted, NotByAnotherKindOfRun) {
  for (const CorpusCells& other : {CorpusCells{{"source_key", "b"}},
                                   {{"zero_stage", "2"}},
                                   {{"pp", "1"}},
                                   {{"framework", "FSDP"}},
                                   {{"recompute", "full"}},
                                   {{"vocab", "1000"}}}) {
    EXPECT_EQ(contradicting("40", other), nullptr) << other.begin()->first;
  }
}

TEST(Contradicted, WhatARowDoesNotStateIsNoDifference) {
  EXPECT_NE(contradicting("40", {{"n_kv_heads", ""}, {"flash_attention", ""}}), nullptr);
}

// It may have been anything.
TEST(Contradicted, NotWhereASizeOrADegreeIsNotStated) {
  for (const char* name : {"layers", "d_model", "d_ff", "vocab", "seq_len", "micro_batch",
                           "grad_accum", "tp", "dp", "pp", "zero_stage"}) {
    EXPECT_EQ(contradicting("40", {{name, ""}}), nullptr) << name;
  }
}

// No more micro-batches are in flight than a pipeline holds.
TEST(Contradicted, MicroBatchesBeyondThePipelineHoldNothing) {
  EXPECT_NE(contradicting("40", {{"grad_accum", "64"}}), nullptr);
}

TEST(Contradicted, NotByARunAtItsLimit) {
  EXPECT_NE(contradicting("72", {}), nullptr);
  EXPECT_EQ(contradicting("73", {}), nullptr);
}

}  // namespace
}  // namespace headway

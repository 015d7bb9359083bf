// Rows of benchmarks whose runs were tuned.
#include <gtest/gtest.h>

#include "fit/serving/served_rows_for_test.hpp"

namespace headway {
namespace {

using testing::predicted;

// [INFER-38] Rows of MLPerf tell neither lengths nor split: eight H200 hold a copy of Llama 2 70B
// in 8 bits each, and whoever tunes splits none. Limits of a token of 40 ms cost tokens/s.
TEST(MeasuredServing, OfATunedBenchmarkIsOfTheBestSplit) {
  const auto row = [](const std::string& notes) {
    return "a,mlperf_5.0,x,llama-2-70b,69,NVIDIA H200-SXM-141GB,8,,,,,,,,MLPerf v5.0,,,,,0.5,0.1,9,"
           "34988,,,0," +
           notes + "; a system; nodes 1\n";
  };
  const auto rows = predicted(row("llama2-70b-99 Offline") + row("llama2-70b-99 Server") +
                              row("llama2-70b-interactive-99 Server"));
  ASSERT_EQ(rows.size(), 3U);
  for (const ServedRow& each : rows) {
    EXPECT_EQ(each.load, "tuned");
    EXPECT_EQ(each.precision, "fp8");
    EXPECT_EQ(each.engine, "tensorrt-llm");
    EXPECT_FALSE(each.error(kFirstToken));  // of another load than the most
    ASSERT_TRUE(each.predicted[kOutput]);
  }
  EXPECT_LT(std::abs(*rows[0].error(kOutput)), 0.25);
  EXPECT_NEAR(*rows[1].predicted[kOutput] / *rows[0].predicted[kOutput], 0.97, 0.08);
  EXPECT_LT(*rows[2].predicted[kOutput], 0.8 * *rows[0].predicted[kOutput]);
}

TEST(MeasuredServing, OfATunedBenchmarkIsSkippedWhereItIsNotKnown) {
  const auto reason = [](const std::string& model, const char* machine, const char* notes) {
    return predicted("a,mlperf_6.0,x," + model + ",69," + machine +
                     ",8,,,,,,,,MLPerf v6.0,,,,,,,,34988,,,0," + notes + "; a system\n")[0]
        .skipped_reason;
  };
  EXPECT_EQ(reason("gpt-j-6b", "H200", "gptj-99 Offline"),
            "four beams of each answer: no way of serving has them");
  EXPECT_EQ(reason("deepseek-r1", "B200", "deepseek-r1 Interactive"),
            "its benchmark's limits are not known");
  EXPECT_EQ(reason("gpt-oss-120b", "B200", "gpt-oss-120b Offline"), "cell missing: input_len");
  EXPECT_EQ(reason("llama-2-70b", "AMD Instinct MI355X 288GB HBM3e (Power Cap 1000 W)",
                   "llama2-70b-99 Offline"),
            "its power was capped");
  EXPECT_EQ(reason("llama-3.1-405b", "L40S", "llama3.1-405b Offline"),
            "no split of its accelerators serves it");
}

}  // namespace
}  // namespace headway

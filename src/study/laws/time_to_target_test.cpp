#include "study/laws/time_to_target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

Csv table_of(const std::string& rows) {
  return parse_csv(
             "id,benchmark,round,submitter,global_batch,throughput,time_to_target_s,"
             "samples_to_target\n" +
                 rows,
             "runs.csv")
      .value();
}

TEST(TimeToTarget, IsSamplesOverThroughputAndTheEvaluationOfOthers) {
  // [LAW-22] Three submitters of bert at one batch; evaluation of the first is the median of what
  // the other two took beyond training: 10 % and 30 %, of which the upper stands.
  const auto runs =
      read_target_runs(table_of("a,bert,v2.1,A,4096,1000,3000,2500000\n"
                                "b,bert,v2.1,B,4096,1000,2750,2500000\n"
                                "c,bert,v2.1,C,4096,1000,3250,2500000\n"));
  ASSERT_TRUE(runs.ok());
  const auto timed = times_to_target(*runs);
  ASSERT_TRUE(timed.ok());
  const TimedTarget& first = timed->front();
  ASSERT_TRUE(first.reason.empty()) << first.reason;
  EXPECT_NEAR(first.evaluation, 0.3, 1e-12);
  EXPECT_NEAR(first.time.value(), first.samples / 1000 * 1.3, 1e-6);
  // The points of the round by themselves: about 2.3 M sequences of small batches, C 13,000.
  EXPECT_NEAR(first.samples / (2.335e6 * (1 + 4096 / 13.28e3)), 1, 0.01);
}

TEST(TimeToTarget, RowsThatCannotBePredictedSayWhy) {
  const auto runs =
      read_target_runs(table_of("a,nothing,v2.1,A,4096,1000,3000,2500000\n"
                                "b,dlrm,v2.0,B,65536,1e6,100,1e9\n"
                                "c,bert,,B,1,1,1,1\n"));
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->size(), 2U);  // the third has no round
  const auto timed = times_to_target(*runs);
  ASSERT_TRUE(timed.ok());
  for (const TimedTarget& each : *timed) EXPECT_FALSE(each.reason.empty());
  EXPECT_FALSE(read_target_runs(table_of("a,bert,,A,1,1,1,1\n")).ok());
}

TEST(TimeToTarget, PublicRunsAreForetoldEndToEnd) {
  // The measured table beside the checkout, where it is.
  namespace fs = std::filesystem;
  const fs::path file = fs::path(source_dir()) / "../shared/workloads/measured.csv";
  if (!fs::exists(file)) GTEST_SKIP() << file << " is not there";
  const auto text = read_file(file.string(), std::size_t{64} << 20U);
  ASSERT_TRUE(text.ok());
  const auto runs = read_target_runs(*parse_csv(*text, "measured.csv"));
  ASSERT_TRUE(runs.ok());
  const auto timed = times_to_target(*runs);
  ASSERT_TRUE(timed.ok());
  std::map<std::string, std::vector<double>> errors;
  for (const TimedTarget& each : *timed) {
    if (each.reason.empty() && each.run.samples > 0) {
      errors[each.run.benchmark].push_back(std::abs(each.error()));
    }
  }
  const auto median = [&](const char* name) {
    std::vector<double>& of = errors[name];
    std::sort(of.begin(), of.end());
    return of.empty() ? 1 : of[of.size() / 2];
  };
  for (const auto& [name, most] :
       {std::pair("resnet", 0.06), std::pair("maskrcnn", 0.04), std::pair("rnnt", 0.04),
        std::pair("dlrm_dcnv2", 0.05), std::pair("gnn", 0.04), std::pair("bert", 0.09)}) {
    EXPECT_LT(median(name), most) << name;
  }
}

}  // namespace
}  // namespace headway

// Three jobs of ByteDance's what-if study (arXiv 2505.05713, tests/oracles/simulation): measured
// spans and the study's own results.
#include "simulate/replay/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "base/source_dir_for_test.hpp"
#include "base/statistics.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

Csv oracle(const std::string& name) {
  const std::string file = source_dir() + "/tests/oracles/simulation/" + name;
  return parse_csv(read_file(file).value(), name).value();
}

const Replay& replayed(const std::string& trace) {
  static std::map<std::string, Replay> kept;
  auto found = kept.find(trace);
  if (found == kept.end()) {
    const auto measured = read_ops(oracle("straggler_ops_" + trace + ".csv"));
    found = kept.emplace(trace, replay(measured.value())).first;
  }
  return found->second;
}

std::string cell(const Csv& table, const CsvRow& row, const char* column) {
  return row.cells[table.column(column).value()];
}
std::string expected(const std::string& trace, const char* column) {
  const Csv table = oracle("straggler_expected.csv");
  for (const CsvRow& row : table.rows) {
    if (row.cells[0] == trace) return cell(table, row, column);
  }
  return {};
}

// The rule for transfers is of all jobs: none was fitted for one.
TEST(Replay, SpansAreThoseMeasured) {  // [SIM-4]
  const Csv table = oracle("straggler_spans.csv");
  for (const auto& [trace, most] : {std::pair("ST", 0.002), {"SE", 0.01}, {"AR", 0.002}}) {
    std::map<std::pair<std::int64_t, std::int64_t>, double> measured;
    for (const CsvRow& row : table.rows) {
      if (row.cells[0] != trace) continue;
      measured[{std::stoll(row.cells[1]), std::stoll(row.cells[2])}] =
          std::stod(cell(table, row, "measured_span_s"));
    }
    std::vector<double> errors;
    for (const ReplayedPipeline& pipeline : replayed(trace).pipelines) {
      const double span = measured.at({pipeline.step, pipeline.dp_rank});
      errors.push_back(std::abs(pipeline.span.value() / span - 1));
    }
    EXPECT_EQ(errors.size(), measured.size()) << trace;
    EXPECT_LT(quantile(errors, 0.5).value(), most) << trace;
  }
}

TEST(Replay, SlowdownsAreThoseOfTheStudy) {  // [SIM-3]
  for (const auto& [trace, slowdown] : {std::pair("ST", 1.179), {"SE", 1.537}, {"AR", 1.973}}) {
    EXPECT_NEAR(replayed(trace).slowdown, slowdown, 0.02 * slowdown) << trace;
  }
}

// "0:0.9980 1:0.9831": what the study finds of each stage by itself.
TEST(Replay, WhatAStageDoesByItselfIsAsTheStudySays) {  // [SIM-3]
  for (const char* trace : {"ST", "SE", "AR"}) {
    std::istringstream in(expected(trace, "slowdown_by_stage"));
    std::string each;
    std::size_t stages = 0;
    while (in >> each) {
      const double found = replayed(trace).slowdown_without_stage.at(stages++);
      const double study = std::stod(each.substr(each.find(':') + 1));
      EXPECT_NEAR(found, study, 0.02 * study) << trace << " " << each;
    }
    EXPECT_EQ(replayed(trace).slowdown_without_stage.size(), stages);
  }
}

// One worker is all of AR's slowdown: rank 0, stage 0.
TEST(Replay, NamesTheOneSlowWorker) {  // [SIM-3]
  const Replay& found = replayed("AR");
  const auto slowest =
      std::max_element(found.slowdown_without_worker.begin(), found.slowdown_without_worker.end());
  EXPECT_EQ(slowest, found.slowdown_without_worker.begin());
  EXPECT_NEAR(*slowest, 1.979, 0.02 * 1.979);
  EXPECT_NEAR(found.slowdown_worker_mended.front(), 1.0, 0.02);
  for (std::size_t i = 1; i < found.slowdown_without_worker.size(); ++i) {
    EXPECT_NEAR(found.slowdown_without_worker[i], 1.0, 0.01);
    EXPECT_NEAR(found.slowdown_worker_mended[i], found.slowdown, 0.01);
  }
}

// ---- against closed forms ----

MeasuredOps ops_of(const std::string& rows) {
  return read_ops(parse_csv("step,dp_rank,stage,micro_batch,F_s,B_s\n" + rows, "ops.csv").value())
      .value();
}

// 1F1B of equal stages: (m + p - 1)(F + B).
TEST(Replay, OfPassesThatAreAlikeIsTheClosedFormOfTheirSchedule) {  // [SIM-3]
  std::string rows;
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < 8; ++i) {
      rows += "7,3," + std::to_string(stage) + "," + std::to_string(i) + ",1,2\n";
    }
  }
  const Replay found = replay(ops_of(rows), Seconds(0));
  EXPECT_NEAR(found.pipelines.at(0).span.value(), (8 + 3) * 3, 1e-12);
  EXPECT_EQ(found.pipelines.at(0).step, 7);
  EXPECT_EQ(found.pipelines.at(0).dp_rank, 3);
  EXPECT_NEAR(found.slowdown, 1, 1e-12);
  // A hundredth of the mean of 1 and 2.
  EXPECT_NEAR(replay(ops_of(rows)).transfer.value(), 0.015, 1e-12);
}

// The slowest rank of each step, in the mean over steps: (3 + 6)/2 of a single stage; the mean
// pass of 12 of them is 5/4.
TEST(Replay, OfAStepIsTheSlowestRankInTheMeanOverSteps) {  // [SIM-3]
  const Replay found = replay(ops_of("1,0,0,0,1,1\n1,1,0,0,1,2\n2,0,0,0,3,3\n2,1,0,0,1,1\n"));
  EXPECT_NEAR(found.step.value(), 4.5, 1e-12);
  EXPECT_NEAR(found.ideal_step.value(), 6.0 / 4 + 7.0 / 4, 1e-12);
}

// ---- what is refused ----

std::vector<std::string> refused(const std::string& text) {
  const auto table = parse_csv(text, "ops.csv");
  std::vector<std::string> out;
  const Problems problems =
      table ? (read_ops(*table).ok() ? Problems() : read_ops(*table).problems()) : table.problems();
  for (const Problem& problem : problems) {
    out.push_back(where_text(problem) + ": " + problem.message);
  }
  return out;
}

TEST(MeasuredOps, AreRefusedWithEverythingThatIsWrong) {
  const std::string head = "step,dp_rank,stage,micro_batch,F_s,B_s\n";
  EXPECT_EQ(refused(head + "1,0,0,0,1,1\n1,0,0,1,1,1\n").size(), 0U);
  EXPECT_EQ(refused("step,dp_rank,stage,F_s,B_s,B_t\n").size(), 2U);  // one column for another
  EXPECT_EQ(refused(head).size(), 1U);                                // no rows
  EXPECT_EQ(refused(head + "1,0,0,0,-1,0\n1,0,,1,x,nan\n-1,0,0,2,1,inf\n").size(), 7U);
  EXPECT_EQ(refused(head + "1,0,0,0,1\n").size(), 1U);                              // cut
  EXPECT_EQ(refused(head + "1,0,0,0,1,1\n1,0,0,0,1,1\n").size(), 1U);               // twice
  EXPECT_EQ(refused(head + "1,0,0,0,1,1\n1,0,1,1,1,1\n").size(), 1U);               // a hole
  EXPECT_EQ(refused(head + "1,0,0,0,1,1\n1,0,0,1,1,1\n2,0,0,0,1,1\n").size(), 1U);  // fewer
  EXPECT_EQ(refused(head + "1,0,0,0,1,1\n1,1,0,0,1,1\n2,0,0,0,1,1\n").size(), 1U);  // a rank less
  EXPECT_EQ(refused(head + "1,0,999999999999,0,1,1\n").size(), 1U);
}

}  // namespace
}  // namespace headway

// The command's question and answer against pipelines placed by another program, published bubble
// rates, and orders written down one by one (tests/oracles/simulation).
#include "simulate/pipeline/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/formatted.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "simulate/pipeline/question.hpp"

namespace headway {
namespace {

Csv oracle(const char* name) {
  const std::string file = source_dir() + "/tests/oracles/simulation/" + name;
  return parse_csv(read_file(file).value(), name).value();
}

// Cells of a row by their column.
struct Row {
  const Csv& table;
  const CsvRow& row;
  std::string text(const char* column) const { return row.cells[table.column(column).value()]; }
  double number(const char* column) const { return std::stod(text(column)); }
  std::string seconds(const char* column) const { return text(column) + " s"; }
};

std::vector<double> numbers(const std::string& text) {
  std::vector<double> out;
  std::istringstream in(text);
  for (double each = 0; in >> each;) out.push_back(each);
  return out;
}

std::string word_of(const std::string& name) {
  static const std::map<std::string, std::string> words = {
      {"bfs", "breadth-first"}, {"zbh1", "zero-bubble"},   {"zbh2", "zero-bubble-2"},
      {"zbv", "zero-bubble-v"}, {"dualpipe", "dual-pipe"}, {"dualpipev", "dual-pipe-v"}};
  const auto found = words.find(name);
  return found == words.end() ? name : found->second;
}

RunRequest shape(const Row& row) {
  RunRequest out = {{"schedule", word_of(row.text("schedule"))},
                    {"pp", row.text("p")},
                    {"micro-batches", row.text("m")}};
  const bool takes = row.text("schedule") == "interleaved" || row.text("schedule") == "bfs";
  if (takes) out.push_back({"vpp", row.text("v")});
  return out;
}

SimulatedPipeline simulated(const RunRequest& request) {
  const auto question = read_pipeline(request);
  EXPECT_TRUE(question.ok()) << where_text(question.problems().front()) << ": "
                             << question.problems().front().message;
  return simulate_pipeline(*question);
}

double longest(const std::vector<Seconds>& times) {
  return std::max_element(times.begin(), times.end())->value();
}

TEST(SimulatedPipelines, AreThoseOfAnotherProgram) {  // [SIM-1]
  const Csv table = oracle("schedules.csv");
  ASSERT_EQ(table.rows.size(), 285U);
  for (const CsvRow& cells : table.rows) {
    const Row row{table, cells};
    RunRequest request = shape(row);
    request.push_back({"forward", row.seconds("F")});
    request.push_back({"backward", row.seconds("B")});
    request.push_back({"weight", row.seconds("W")});
    request.push_back({"transfer", row.seconds("comm")});
    if (!row.text("FB_joint").empty()) {
      const double apart = row.number("F") + row.number("B") + row.number("W");
      request.push_back({"joined", formatted("%.17g", row.number("FB_joint") / apart)});
    }
    const SimulatedPipeline out = simulated(request);
    const double all = row.number("makespan");
    EXPECT_NEAR(out.makespan.value(), all, 1e-9 * all) << cells.line;
    EXPECT_NEAR(longest(out.spans), row.number("max_stage_span"), 1e-9 * all) << cells.line;
    const auto expect_counts = [&](const std::vector<std::int64_t>& counts, const char* column) {
      const std::vector<double> expected = numbers(row.text(column));
      ASSERT_EQ(counts.size(), expected.size());
      for (std::size_t i = 0; i < counts.size(); ++i) {
        EXPECT_EQ(static_cast<double>(counts[i]), expected[i]) << cells.line << " rank " << i;
      }
    };
    expect_counts(out.peak_in_flight, "peak_inflight_until_W");
    expect_counts(out.peak_until_input_gradient, "peak_inflight_until_B");
    if (row.text("FB_joint").empty()) {
      for (const Seconds idle : out.idle) {
        EXPECT_NEAR(idle.value(), all - row.number("ideal"), 1e-9 * all) << cells.line;
      }
    }
  }
}

// p = 8, m = 20, F = B = W = 1, a pair together 2.5 and 2: ranks idle 3.5 to 4.5 and 1 to 3.
TEST(SimulatedPipelines, OfDualPipeWithPairsThatOverlapAreIdleForWhatIsLeft) {  // [SIM-1]
  struct Case {
    double pair, least, most;
  };
  for (const Case& each : {Case{2.5, 3.5, 4.5}, Case{2, 1, 3}}) {
    const SimulatedPipeline out = simulated({{"schedule", "dual-pipe"},
                                             {"pp", "8"},
                                             {"micro-batches", "20"},
                                             {"forward", "1 s"},
                                             {"backward", "1 s"},
                                             {"weight", "1 s"},
                                             {"joined", formatted("%.17g", each.pair / 3)}});
    const auto [least, most] = std::minmax_element(out.idle.begin(), out.idle.end());
    EXPECT_NEAR(least->value(), each.least, 1e-9);
    EXPECT_NEAR(most->value(), each.most, 1e-9);
  }
}

TEST(SimulatedPipelines, RunTheOrdersOfTheirPapers) {  // [SIM-2]
  const Csv table = oracle("schedule_orders.csv");
  ASSERT_EQ(table.rows.size(), 48U);
  for (const CsvRow& cells : table.rows) {
    const Row row{table, cells};
    RunRequest request = shape(row);
    for (const char* time : {"forward", "backward", "weight"}) request.push_back({time, "1 ms"});
    const auto rank = static_cast<std::size_t>(row.number("rank"));
    EXPECT_EQ(simulated(request).orders.at(rank), cells.cells.back()) << cells.line;
  }
}

Csv stages_of(const std::string& text) {
  return parse_csv(text, "stages.csv").value();
}

TEST(SimulatedPipelines, OfUnequalStagesAreThoseOfAnotherProgram) {
  const Csv table = oracle("schedules_unequal.csv");
  ASSERT_EQ(table.rows.size(), 7U);
  for (const CsvRow& cells : table.rows) {
    const Row row{table, cells};
    const std::vector<double> forward = numbers(row.text("F_by_stage"));
    const std::vector<double> backward = numbers(row.text("B_by_stage_whole_backward"));
    std::string stages = "stage,forward,backward,weight\n";
    for (std::size_t i = forward.size(); i-- > 0;) {  // in any order
      stages += formatted("%zu,%.17g s,%.17g s,0.25 s\n", i, forward[i], backward[i] - 0.25);
    }
    const auto question = read_pipeline({{"schedule", row.text("schedule")},
                                         {"pp", row.text("p")},
                                         {"micro-batches", row.text("m")},
                                         {"transfer", row.seconds("comm")}},
                                        std::optional<Csv>(stages_of(stages)));
    ASSERT_TRUE(question.ok());
    const double all = row.number("makespan");
    EXPECT_NEAR(simulate_pipeline(*question).makespan.value(), all, 1e-9 * all) << cells.line;
  }
}

// arXiv 2401.10241 tables 5 and 6: (C - m(F + B + W))/C, C the longest span. Its interleaved
// column has p transfers less.
TEST(SimulatedPipelines, HaveTheBubbleRatesThatZeroBubblePublished) {  // [SIM-1]
  const Csv table = oracle("zb_bubble_rates.csv");
  ASSERT_EQ(table.rows.size(), 6U);
  for (const CsvRow& cells : table.rows) {
    const Row row{table, cells};
    const auto rate = [&](const char* schedule, const std::string& vpp) {
      const SimulatedPipeline out = simulated({{"schedule", schedule},
                                               {"pp", row.text("p")},
                                               {"micro-batches", row.text("m")},
                                               {"vpp", vpp},
                                               {"forward", row.text("T_F_ms") + " ms"},
                                               {"backward", row.text("T_B_ms") + " ms"},
                                               {"weight", row.text("T_W_ms") + " ms"},
                                               {"transfer", row.text("T_comm_ms") + " ms"}});
      const double work =
          row.number("m") * (row.number("T_F_ms") + row.number("T_B_ms") + row.number("T_W_ms"));
      return 1 - work * 1e-3 / longest(out.spans);
    };
    EXPECT_NEAR(rate("1f1b", "1"), row.number("pub_1F1B"), 5e-5);
    EXPECT_NEAR(rate("zero-bubble", "1"), row.number("pub_ZB_H1"), 5e-5);
    EXPECT_NEAR(rate("zero-bubble-2", "1"), row.number("pub_ZB_H2"), 5e-5);
    EXPECT_NEAR(rate("interleaved", row.text("layers_per_stage_v")), row.number("pub_1F1B_I"),
                0.004);
  }
}

// ---- what is refused ----

std::vector<std::string> refused(const RunRequest& request,
                                 const StagesTable& stages = std::optional<Csv>()) {
  std::vector<std::string> out;
  const auto question = read_pipeline(request, stages);
  if (question.ok()) return out;
  for (const Problem& problem : question.problems()) {
    out.push_back(where_text(problem) + ": " + problem.message);
  }
  return out;
}

TEST(PipelineQuestions, AreRefusedWithEverythingThatIsWrong) {
  EXPECT_EQ(refused({}).size(), 6U);  // all that must be given
  const std::vector<std::string> said = refused({{"schedule", "1f2b"},
                                                 {"pp", "0"},
                                                 {"micro-batches", "-3"},
                                                 {"vpp", "x"},
                                                 {"forward", "0 s"},
                                                 {"backward", "-1 ms"},
                                                 {"weight", "3"},
                                                 {"transfer", "nan s"},
                                                 {"joined", "2"},
                                                 {"speed", "1"}});
  EXPECT_EQ(said.size(), 10U);
  for (const char* part : {"--pp: is 0", "--micro-batches: is -3", "--backward: is negative",
                           "--forward: must be greater than zero"}) {
    EXPECT_TRUE(std::any_of(said.begin(), said.end(), [&](const std::string& each) {
      return each.find(part) != std::string::npos;
    })) << part;
  }
}

TEST(PipelineQuestions, OfMicroBatchesThatTheScheduleDoesNotTakeAreRefused) {
  const auto problems = [](const char* schedule, const char* pp, const char* m, const char* vpp) {
    return refused({{"schedule", schedule},
                    {"pp", pp},
                    {"micro-batches", m},
                    {"vpp", vpp},
                    {"forward", "1 s"},
                    {"backward", "1 s"},
                    {"weight", "0 s"}})
        .size();
  };
  EXPECT_EQ(problems("dual-pipe", "4", "6", "1"), 1U);
  EXPECT_EQ(problems("dual-pipe", "4", "9", "1"), 1U);
  EXPECT_EQ(problems("dual-pipe", "3", "8", "1"), 1U);
  EXPECT_EQ(problems("dual-pipe-v", "4", "7", "1"), 1U);
  EXPECT_EQ(problems("chimera", "4", "6", "1"), 1U);
  EXPECT_EQ(problems("interleaved", "4", "8", "1"), 1U);
  EXPECT_EQ(problems("interleaved", "4", "6", "2"), 1U);
  EXPECT_EQ(problems("gpipe", "4", "8", "2"), 1U);
  EXPECT_EQ(problems("1f1b", "65536", "1000000", "1"), 1U);
  EXPECT_EQ(problems("interleaved", "4", "8", "2"), 0U);
  EXPECT_EQ(problems("zero-bubble-v", "4", "8", "2"), 0U);  // as it is anyway
  EXPECT_EQ(problems("zero-bubble-v", "4", "8", "3"), 1U);
  EXPECT_EQ(problems("zero-bubble-h2", "4", "2", "1"), 0U);
}

TEST(PipelineQuestions, OfStagesThatAreWrongSayEveryLine) {
  const RunRequest fields = {{"schedule", "1f1b"}, {"pp", "3"}, {"micro-batches", "4"}};
  const auto said = [&](const std::string& text) {
    return refused(fields, std::optional<Csv>(stages_of(text)));
  };
  EXPECT_EQ(said("stage,forward,backward,weight\n0,1 s,1 s,0 s\n1,1 s,1 s,0 s\n2,1 s,1 s,1 s\n"),
            std::vector<std::string>());
  EXPECT_EQ(said("stage,forward\n").size(), 2U);                                 // two columns
  EXPECT_EQ(said("stage,forward,backward,weight,wait\n").size(), 1U);            // one more
  EXPECT_EQ(said("stage,forward,backward,weight\n0,1 s,1 s,1 s\n").size(), 1U);  // two rows
  // A stage twice, one that is none, three times that are none.
  EXPECT_EQ(
      said("stage,forward,backward,weight\n0,1 s,1 s,-1 s\n0,0 s,1 s,1 s\n7,1 s,1,1 s\n").size(),
      5U);
  RunRequest both = fields;
  both.push_back({"forward", "1 s"});
  EXPECT_EQ(refused(both, std::optional<Csv>(stages_of(
                              "stage,forward,backward,weight\n0,1 s,1 s,0 s\n1,1 s,1 s,0 s\n"
                              "2,1 s,1 s,1 s\n")))
                .size(),
            1U);
}

}  // namespace
}  // namespace headway

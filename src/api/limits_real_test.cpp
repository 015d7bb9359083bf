#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/commands.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;
using JsonTree = nlohmann::json;

LimitsRequest real_request() {
  LimitsRequest out;
  out.real = true;
  return out;
}

bool says(const CommandOutput& output, const std::string& where, const std::string& what) {
  return std::any_of(output.problems.begin(), output.problems.end(), [&](const Problem& problem) {
    return where_text(problem).find(where) != std::string::npos &&
           problem.message.find(what) != std::string::npos;
  });
}

TEST(LimitsReal, both_answers_stand_side_by_side_up_to_the_last_transformer) {
  LimitsRequest request = real_request();
  request.json = true;
  const CommandOutput output = run_limits(request);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  const JsonTree document = JsonTree::parse(output.text);
  ASSERT_EQ(document["settings"].size(), 1U);
  const JsonTree& h100 = document["settings"][0];
  // The idealised answer is the one of the study, with the fields it has without transformers.
  EXPECT_NEAR(h100["last_feasible_flop"].get<double>() / 2.707375e31, 1, 1e-6);
  EXPECT_EQ(h100["rows"].size(), 31U);
  const JsonTree& real = h100["transformers"];
  EXPECT_EQ(real["cluster"], "dgx-h100");
  EXPECT_EQ(real["sequence_tokens"], 2048);
  EXPECT_EQ(real["end"], "no_layout_in_time");
  const JsonTree& rows = real["rows"];
  ASSERT_GT(rows.size(), 3U);
  EXPECT_TRUE(rows.back()["run"].is_null());
  EXPECT_EQ(rows[rows.size() - 2]["run"]["training_flop"], real["last_feasible_flop"]);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const JsonTree& run = rows[i]["run"];
    EXPECT_EQ(rows[i]["idealized_training_flop"], h100["rows"][i]["training_flop"]);
    const JsonTree& layout = run["layout"];
    EXPECT_EQ(layout["dp"].get<std::int64_t>() * layout["tp"].get<std::int64_t>() *
                  layout["cp"].get<std::int64_t>() * layout["pp"].get<std::int64_t>(),
              run["n_gpus"].get<std::int64_t>());
    // In time, below the idealised utilisation, the parts add up to the step.
    EXPECT_LE(run["run_time_s"].get<double>(), h100["duration_s"].get<double>());
    EXPECT_LT(run["mfu"].get<double>(), h100["rows"][i]["utilization"].get<double>());
    double sum = 0;
    for (const JsonTree& part : run["parts_s"]) sum += part.get<double>();
    EXPECT_NEAR(sum / run["step_time_s"].get<double>(), 1, 1e-9);
    // MFU = FLOP / (time x GPUs x peak), peak of an H100 in bf16 by its data sheet: 989.4 TFLOP/s.
    const double most = run["run_time_s"].get<double>() * run["n_gpus"].get<double>() * 989.4e12;
    EXPECT_NEAR(run["training_flop"].get<double>() / most / run["mfu"].get<double>(), 1, 2e-3);
  }
}

TEST(LimitsReal, the_answer_does_not_depend_on_the_number_of_threads) {
  LimitsRequest request = real_request();
  request.json = true;
  request.sequence = 8192;
  request.threads = 1;
  const std::string one = run_limits(request).text;
  request.threads = 5;
  EXPECT_TRUE(run_limits(request).text == one);
}

// Of one model and as many tokens a longer sequence has more work in attention, and is split
// further.
TEST(LimitsReal, longer_sequences_need_more_and_end_no_later) {
  std::vector<std::vector<double>> work, utilisation;
  for (const std::int64_t sequence : {2048, 8192}) {
    LimitsRequest request = real_request();
    request.json = true;
    request.sequence = sequence;
    const JsonTree document = JsonTree::parse(run_limits(request).text);
    const JsonTree& real = document["settings"][0]["transformers"];
    EXPECT_EQ(real["sequence_tokens"], sequence);
    work.emplace_back();
    utilisation.emplace_back();
    for (const JsonTree& row : real["rows"]) {
      if (row["run"].is_null()) break;
      work.back().push_back(row["run"]["training_flop"].get<double>());
      utilisation.back().push_back(row["run"]["mfu"].get<double>());
    }
  }
  ASSERT_LE(work[1].size(), work[0].size());
  for (std::size_t i = 0; i < work[1].size(); ++i) EXPECT_GT(work[1][i], work[0][i]);
  EXPECT_LT(utilisation[1].back(), utilisation[0][work[1].size() - 1]);
}

TEST(LimitsReal, everything_wrong_is_said_at_once) {
  LimitsRequest request = real_request();
  request.gpus = {"gtx-580"};
  request.sensitivity = true;
  request.explain = true;
  const CommandOutput output = run_limits(request);
  EXPECT_TRUE(says(output, "--cluster", "'gtx-580' stands for no cluster"));
  EXPECT_TRUE(says(output, "--sensitivity", "no meaning"));
  EXPECT_TRUE(says(output, "--explain", "no meaning"));

  request = real_request();
  request.sites = "10000000";
  request.site_bandwidth = "1 GB/s";
  request.relax = "synthetic-labels";
  const CommandOutput beyond = run_limits(request);
  EXPECT_TRUE(says(beyond, "--sites", "must be from 1 to"));
  EXPECT_TRUE(says(beyond, "--relax", "which the idealised model does not know"));

  request = real_request();
  request.cluster = "dgx-h10";
  EXPECT_TRUE(says(run_limits(request), "", "dgx-h100"));
  LimitsRequest idle;
  idle.cluster = "dgx-h100";
  EXPECT_TRUE(says(run_limits(idle), "--cluster", "--real"));
  idle = {};
  idle.sequence = -1;
  EXPECT_TRUE(says(run_limits(idle), "--seq", "must be from 1"));
}

TEST(LimitsReal, what_a_machine_stands_for_does_not_hold_for_those_made_from_it) {
  EXPECT_EQ(limits::embedded_machine("h100-sxm")->stands_for, "dgx-h100");
  EXPECT_EQ(limits::embedded_machine("h100-low-latency")->stands_for, "");
  for (const std::string& name : limits::machine_names()) {
    const auto machine = limits::embedded_machine(name);
    ASSERT_TRUE(machine.ok()) << name;  // a cluster that it names is known
  }
}

TEST(LimitsReal, no_transformer_ends_in_a_day) {
  const testing::TemporaryFolder folder;
  LimitsRequest request = real_request();
  request.files = {folder.write("day.toml",
                                "machine = \"h100-sxm\"\nduration_months = 0.03\n"
                                "first_d_model = 12288\nlast_d_model = 14336\n")};
  const CommandOutput output = run_limits(request);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.text.find("transformers: none of those that were tried ends in time"),
            std::string::npos);
}

TEST(LimitsReal, rows_and_drawings_hold_every_width) {
  const testing::TemporaryFolder folder;
  LimitsRequest request = real_request();
  request.rows = folder.of("rows.csv");
  request.plot = folder.of("plots");
  const CommandOutput output = run_limits(request);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  const auto csv = read_file(request.rows);
  ASSERT_TRUE(csv.ok());
  // As many cells in each line as in the head.
  std::size_t lines = 0;
  std::ptrdiff_t commas = -1;
  for (std::size_t at = 0; at < csv->size(); ++lines) {
    const std::size_t end = csv->find('\n', at);
    const auto found = std::count(csv->begin() + static_cast<std::ptrdiff_t>(at),
                                  csv->begin() + static_cast<std::ptrdiff_t>(end), ',');
    if (commas < 0) commas = found;
    EXPECT_EQ(found, commas) << lines;
    at = end + 1;
  }
  EXPECT_GT(lines, 4U);
  const auto svg = read_file(folder.of("plots/limits-real-1.svg"));
  ASSERT_TRUE(svg.ok());
  EXPECT_TRUE(svg->ends_with("</svg>\n"));
  EXPECT_EQ(svg->find("nan"), std::string::npos);
}

}  // namespace
}  // namespace headway

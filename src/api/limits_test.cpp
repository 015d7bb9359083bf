#include "report/limits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/commands.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;
using JsonTree = nlohmann::json;

using testing::TemporaryFolder;

std::string all_problems(const CommandOutput& output) {
  return problems_text(output.problems);
}

const char* const kNarrow = "first_d_model = 12288\nlast_d_model = 16384\n";

TEST(LimitsCommand, json_has_the_promised_fields_of_every_setting_and_row) {
  LimitsRequest request;
  request.presets = {"base_dense"};
  request.json = true;
  const CommandOutput output = run_limits(request);
  ASSERT_TRUE(output.problems.empty()) << all_problems(output);
  const JsonTree document = JsonTree::parse(output.text);
  ASSERT_EQ(document["settings"].size(), 3u);
  const JsonTree& h100 = document["settings"][2];
  EXPECT_EQ(h100["name"], "H100 SXM");
  EXPECT_EQ(h100["eta"], 0.7);
  EXPECT_NEAR(h100["linear_scaling_end_flop"].get<double>() / 2.048422e28, 1, 1e-6);
  EXPECT_NEAR(h100["last_feasible_flop"].get<double>() / 2.707375e31, 1, 1e-6);
  EXPECT_NEAR(h100["closed_forms"]["linear_flop"].get<double>() / 1.92e28, 1, 5e-3);
  EXPECT_NEAR(h100["closed_forms"]["latency_flop"].get<double>() / 2.305e31, 1, 5e-3);
  ASSERT_EQ(h100["rows"].size(), 31u);
  for (const JsonTree& row : h100["rows"]) {
    for (const char* field : {"training_flop", "d_model", "layers", "sparsity", "batch_tokens",
                              "n_gpus", "utilization", "run_time_s", "layout", "times"}) {
      EXPECT_TRUE(row.contains(field)) << field;
    }
    // Degrees multiply to the GPUs, parts add up to the step, steps to the run.
    const JsonTree& layout = row["layout"];
    std::int64_t gpus = 1;
    for (const char* kind : {"dp", "tp_model", "tp_ff", "pp", "ep"}) {
      std::int64_t placed = 1;
      for (const JsonTree& level : layout["placement"]) placed *= level[kind].get<std::int64_t>();
      EXPECT_EQ(placed, layout[kind].get<std::int64_t>());
      gpus *= placed;
    }
    EXPECT_EQ(gpus, row["n_gpus"].get<std::int64_t>());
    double sum = 0;
    for (const JsonTree& part : row["times"]["parts_s"]) sum += part.get<double>();
    EXPECT_NEAR(sum / row["times"]["step_time_s"].get<double>(), 1, 1e-9);
    const double steps = 20 * row["parameters"].get<double>() / row["batch_tokens"].get<double>();
    EXPECT_NEAR(steps * row["times"]["step_time_s"].get<double>() / row["run_time_s"].get<double>(),
                1, 1e-9);
  }
}

TEST(LimitsCommand, smooth_limits_stand_beside_the_curve_and_are_those_of_sensitivity) {
  LimitsRequest request;
  request.gpus = {"h100-sxm"};
  request.json = true;
  request.smooth = true;
  const JsonTree smooth = JsonTree::parse(run_limits(request).text)["settings"][0];
  request.smooth = false;
  EXPECT_FALSE(JsonTree::parse(run_limits(request).text)["settings"][0].contains("smooth"));
  request.sensitivity = true;
  const JsonTree moved = JsonTree::parse(run_limits(request).text)["settings"][0];
  EXPECT_EQ(smooth["smooth"], moved["sensitivity"]["smooth"]);
  EXPECT_EQ(smooth["linear_scaling_end_flop"], moved["linear_scaling_end_flop"]);

  request.smooth = true;
  EXPECT_NE(all_problems(run_limits(request)).find("--smooth"), std::string::npos);
  request.sensitivity = request.json = false;
  EXPECT_NE(run_limits(request).text.find("between its models"), std::string::npos);
}

TEST(LimitsCommand, answers_do_not_depend_on_the_number_of_threads) {
  std::string first;
  for (const int threads : {1, 2, 7}) {
    LimitsRequest request;
    request.presets = {"grand_sparse", "batch"};
    request.json = true;
    request.threads = threads;
    const CommandOutput output = run_limits(request);
    ASSERT_TRUE(output.problems.empty());
    if (first.empty()) first = output.text;
    EXPECT_TRUE(output.text == first) << threads;
  }
}

TEST(LimitsCommand, the_published_comparisons_do_not_depend_on_the_slip) {
  for (const std::string& name : limits::comparison_names()) {
    const auto comparison = limits::embedded_comparison(name);
    ASSERT_TRUE(comparison.ok());
    const auto curves = limits_curves(comparison->settings, 0, {});
    ASSERT_TRUE(curves.has_value());
    for (const LimitsCurve& of : *curves) EXPECT_EQ(of.models_changed, 0u) << of.setting.name;
  }
}

TEST(LimitsCommand, the_slip_shows_where_latency_is_high) {
  LimitsRequest request;
  request.gpus = {"h100-sites"};
  const auto asked = limits_settings(request);
  ASSERT_TRUE(asked.ok());
  const auto curves = limits_curves(asked->settings, 0, {});
  const LimitsCurve& of = curves->front();
  EXPECT_GT(of.models_changed, 0u);
  // The shortcut over the published form finds what a search of its own finds.
  const limits::Curve direct = limits::curve(of.setting);
  ASSERT_EQ(direct.runs.size(), of.curve.runs.size());
  for (std::size_t i = 0; i < direct.runs.size(); ++i) {
    EXPECT_EQ(direct.runs[i].gpus, of.curve.runs[i].gpus);
    EXPECT_DOUBLE_EQ(direct.runs[i].step.total.value(), of.curve.runs[i].step.total.value());
  }
}

TEST(LimitsCommand, a_file_edits_whatever_the_model_knows) {
  const TemporaryFolder folder;
  const std::string file = folder.write("mine.toml", std::string(kNarrow) + R"(
name = "mine"
precision = "fp8"
duration_months = 1.5
optimizer_words = 8
recompute_activations = true
steps_between_syncs = 50
as_published = true
linear_share = 0.9

[machine]
base = "h100-sxm"
kernel_latency = "2 us"

[machine.levels.fabric]
size = 100000000000000

[machine.levels.site]
bandwidth = "1 GB/s"
latency = "5 ms"

[machine.sources.mine]
fields = ["levels", "kernel_latency"]
source = "a test"

[layers]
exponent = 0.4
coefficient = 0.05

[sparsity]
experts = 16

[batch]
law = "deepseek"

[overlap]
data = true
)");
  LimitsRequest request;
  request.files = {file};
  const auto settings = limits_settings(request);
  if (!settings) FAIL() << problems_text(settings.problems());
  const limits::Setting& mine = settings->settings.front();
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.precision, Precision::fp8);
  EXPECT_DOUBLE_EQ(mine.duration.value(), 3.154e7 / 8);
  EXPECT_EQ(mine.optimizer_words, 8);
  EXPECT_TRUE(mine.recompute_activations);
  EXPECT_EQ(mine.steps_between_syncs, 50);
  EXPECT_TRUE(mine.as_published);
  EXPECT_EQ(mine.linear_share, 0.9);
  EXPECT_DOUBLE_EQ(mine.machine.gpu.kernel_latency.value(), 2e-6);
  ASSERT_EQ(mine.machine.levels.size(), 3u);
  EXPECT_EQ(mine.machine.levels[1].size, 100000000000000);
  EXPECT_EQ(mine.machine.levels[2].name, "site");
  EXPECT_EQ(mine.layers.exponent, 0.4);
  EXPECT_TRUE(mine.sparsity.sparse);
  EXPECT_EQ(mine.sparsity.experts, 16);
  EXPECT_EQ(mine.batch.flop, 1);
  EXPECT_TRUE(mine.overlap.data);
  EXPECT_TRUE(run_limits(request).problems.empty());
}

TEST(LimitsCommand, a_machine_of_ones_own_lies_beside_its_setting) {
  const TemporaryFolder folder;
  folder.write("quick.toml", "base = \"h100-sxm\"\nkernel_latency = \"1 us\"\n");
  const std::string file =
      folder.write("mine.toml", std::string(kNarrow) + "machine = \"quick.toml\"\n");
  LimitsRequest request;
  request.files = {file};
  const auto settings = limits_settings(request);
  if (!settings) FAIL() << problems_text(settings.problems());
  EXPECT_DOUBLE_EQ(settings->settings.front().machine.gpu.kernel_latency.value(), 1e-6);
}

TEST(LimitsCommand, everything_wrong_with_a_file_is_said_at_once) {
  const TemporaryFolder folder;
  const std::string file = folder.write("wrong.toml", R"(
machine = "h100-smx"
duration_months = -1
first_d_model = 1000
last_d_model = 1500
tokens_per_paramter = 20
[batch]
law = "deepsek"
[layers]
exponent = 7
)");
  LimitsRequest request;
  request.files = {file};
  request.gpus = {"no-such-gpu"};
  request.presets = {"grand_dens"};
  const CommandOutput output = run_limits(request);
  const std::string text = all_problems(output);
  for (const char* expected :
       {"'h100-smx' is not a known machine; did you mean 'h100-sxm'", "duration_months", "widths",
        "'tokens_per_parameter'", "'deepsek' is not a law", "exponent: must be from 0 to 0.5",
        "'no-such-gpu'", "did you mean 'grand_dense'"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << " in\n" << text;
  }
  EXPECT_TRUE(output.text.empty());
}

TEST(LimitsCommand, machines_that_are_wrong_are_refused_with_the_place) {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"base = \"h100-sxm\"\nmemory = 80\n", "must be text in quotes, with its unit"},
      {"base = \"h100-sxm\"\nmemory_bandwidth = \"3 ZB/s\"\n", "memory_bandwidth"},
      {"base = \"h100-sxm\"\nsustained = 1.5\n", "must be from 0.01 to 1"},
      {"base = \"h100-sxm\"\nuse_levels = [\"nod\"]\n", "did you mean 'node'"},
      {"base = \"mine.toml\"\n", "does a file name itself?"},
      {"cluster = \"dgx-h100\"\n", "registers: is missing"},
      {"base = \"h100-sxm\"\n[levels.site]\nbandwidth = \"1 GB/s\"\nlatency = \"1 ms\"\n",
       "'fabric' needs a size"},
      {"base = \"h100-sxm\"\n[levels.node]\nlatency = \"-1 us\"\n", "greater than zero"}};
  for (const auto& [text, expected] : cases) {
    LimitsRequest request;
    request.gpus = {folder.write("mine.toml", text)};
    const std::string problems = all_problems(run_limits(request));
    EXPECT_NE(problems.find(expected), std::string::npos) << text << "gives\n" << problems;
  }
}

// Found by fuzzing: the empty name gave a setting without a machine.
TEST(LimitsCommand, a_machine_without_a_name_is_refused_alone_and_in_a_comparison) {
  const TemporaryFolder folder;
  const std::string rest = "name = \"x\"\nmachine = \"\"\n";
  for (const std::string& text : {rest, "title = \"y\"\n[[settings]]\n" + rest}) {
    const auto line = std::count(text.begin(), text.end(), '\n');
    LimitsRequest request;
    request.files = {folder.write("own.toml", text)};
    EXPECT_EQ(all_problems(run_limits(request)),
              "headway: " + folder.of("own.toml") + ":" + std::to_string(line) +
                  ": machine: must be the name of a machine, or a path, in quotes\n");
  }
}

TEST(LimitsCommand, no_cluster_finishes_in_an_hour) {
  const TemporaryFolder folder;
  LimitsRequest request;
  request.files = {folder.write("hour.toml", std::string(kNarrow) + "machine = \"h100-sxm\"\n"
                                                                    "duration_months = 0.0013\n")};
  const CommandOutput output = run_limits(request);
  EXPECT_TRUE(output.problems.empty()) << all_problems(output);
  EXPECT_EQ(output.exit_code, 1);
  request.json = true;
  const JsonTree document = JsonTree::parse(run_limits(request).text);
  EXPECT_TRUE(document["settings"][0]["last_feasible_flop"].is_null());
  EXPECT_TRUE(document["settings"][0]["rows"].empty());
}

TEST(LimitsCommand, rows_and_drawings_are_written_whole) {
  const TemporaryFolder folder;
  LimitsRequest request;
  request.files = {folder.write("mine.toml", std::string(kNarrow) +
                                                 "machine = \"h100-sxm\"\n"
                                                 "name = \"quoted, \\\"name\\\" <b>\"\n")};
  request.rows = folder.of("rows.csv");
  request.plot = folder.of("plots");
  ASSERT_TRUE(run_limits(request).problems.empty());
  const auto rows = read_file(request.rows);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(std::count(rows->begin(), rows->end(), '\n'), 4);  // 3 widths and the header
  for (const char* plot : {"/plots/utilization.svg", "/plots/parallelism.svg"}) {
    const auto svg = read_file(folder.of("") + plot);
    ASSERT_TRUE(svg.ok()) << plot;
    EXPECT_TRUE(svg->ends_with("</svg>\n"));
    EXPECT_EQ(svg->find("<b>"), std::string::npos);
    EXPECT_EQ(svg->find("nan"), std::string::npos);
  }
  // Utilisation has numbers along its axis.
  const auto svg = read_file(folder.of("plots/utilization.svg"));
  EXPECT_NE(svg->find(">0.2</text>"), std::string::npos);
  request.rows = folder.of("missing/rows.csv");
  request.plot = folder.of("other");
  EXPECT_FALSE(run_limits(request).problems.empty());
  EXPECT_FALSE(fs::exists(folder.of("other")));
}

// Every field of a row that the reference program wrote to the folder beside the sources, where
// there is one. Layouts may differ where times tie.
TEST(LimitsCommand, whole_rows_of_the_reference_program_agree_where_they_are_at_hand) {
  const fs::path folder = fs::path(source_dir()) / ".." / "shared" / "limits";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder << ": compared with tests/golden only";
  std::size_t rows_seen = 0;
  for (const std::string& name : limits::comparison_names()) {
    if (!fs::exists(folder / (name + ".json"))) continue;  // not of the study
    std::ifstream file(folder / (name + ".json"));
    const JsonTree document = JsonTree::parse(file);
    auto comparison = limits::embedded_comparison(name);
    for (limits::Setting& setting : comparison.value().settings) {
      setting.as_published = true;
      const limits::Curve curve = limits::curve(setting);
      std::size_t i = 0;
      for (const JsonTree& row : document.at(setting.name)) {
        if (!row.contains("n_gpu")) continue;
        ASSERT_LT(i, curve.runs.size());
        const limits::Run& run = curve.runs[i++];
        const double steps = limits::steps_of(run.shape);
        EXPECT_EQ(run.shape.batch_tokens, row["batch_tokens"].get<std::int64_t>());
        EXPECT_EQ(run.shape.layers, row["layers"].get<std::int64_t>());
        EXPECT_EQ(run.shape.experts, row["sparsity"].get<std::int64_t>());
        EXPECT_EQ(run.gpus, row["n_gpu"].get<std::int64_t>());
        EXPECT_NEAR(run.utilization / row["util"].get<double>(), 1, 1e-9);
        EXPECT_NEAR(run.duration.value() / (3.154e7 * row["years"].get<double>()), 1, 1e-9);
        // The communication that is least among equally fast layouts.
        const limits::NetworkTimes& network = run.step.network;
        const double found = (network.tensor + network.data + network.pipeline).value() * steps;
        const double expected = row["tp_sec"].get<double>() + row["dp_sec"].get<double>() +
                                row["pp_ep_sec"].get<double>();
        EXPECT_LE(found, expected * (1 + 1e-9));
        ++rows_seen;
      }
      EXPECT_EQ(i, curve.runs.size());
    }
  }
  EXPECT_EQ(rows_seen, 618u);
}

}  // namespace
}  // namespace headway

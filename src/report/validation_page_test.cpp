#include "report/validation_page.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "fit/corpus/table_for_test.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

std::string source_file(const std::string& path) {
  const auto text = read_file(source_dir() + "/" + path);
  return text ? *text : "";
}

ValidationReport training_report() {
  return *validate(source_file("data/measurements/training.csv"), "training.csv",
                   ValidateBy::source);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ValidationReport, ThePageHasEveryBlockOnceAndShowsEveryPlot) {
  // Not whether its numbers are those of today: they are renewed by the command.
  const std::string page = source_file("docs/validation.md");
  const ValidationReport empty = summarise({}, ValidateBy::source);
  const auto renewed = with_generated(page, "docs/validation.md", validation_blocks(empty));
  EXPECT_TRUE(renewed.ok()) << where_text(renewed.problems()[0]) << ": "
                            << renewed.problems()[0].message;
  for (const Plot& plot : validation_plots(empty)) {
    EXPECT_TRUE(contains(page, "](validation/" + plot.name + ".svg)")) << plot.name;
    EXPECT_FALSE(source_file("docs/validation/" + plot.name + ".svg").empty()) << plot.name;
  }
}

TEST(ValidationReport, IsTheSameForTheSameRowsAndItsPlotsAreSmall) {
  const ValidationReport report = training_report();
  EXPECT_EQ(validation_blocks(report), validation_blocks(training_report()));
  const std::vector<Plot> once = validation_plots(report), again = validation_plots(report);
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].svg, again[i].svg);
    EXPECT_LT(once[i].svg.size(), 300'000U) << once[i].name;
    EXPECT_FALSE(contains(once[i].svg, "nan")) << once[i].name;
    EXPECT_FALSE(contains(once[i].svg, "inf")) << once[i].name;
  }
}

TEST(ValidationReport, SaysSoWhereNothingWasLeftOutAndShowsWhatWas) {
  ValidationReport report = summarise({}, ValidateBy::source);
  EXPECT_TRUE(contains(validation_blocks(report).at("left-out"), "No fit"));
  report.intervals = IntervalFit{};
  report.intervals->sources = {{"dgxc",
                                147,
                                {147, 0.05, 0, 0.1, 0},
                                {147, 0.081, 0, 0.2, -0.03},
                                IntervalQuality{0.79, 0.72, 1.5, 2.25, 0.8, 0.9}}};
  report.intervals->accelerators = {{"H200", 7, {7, 0.01, 0, 0.03, 0}, {7, 0.02, 0, 0.04, 0}, {}}};
  const std::string text = validation_blocks(report).at("left-out");
  EXPECT_TRUE(contains(text,
                       "| dgxc | 147 | 5.0 % | 10.0 % | 8.1 % | 20.0 % | -3.0 % | 79.0 % | "
                       "72.0 % | 1.50 | 2.25 | 0.80 | 0.90 |"));
  EXPECT_TRUE(contains(text, "| H200 | 7 | 1.0 % | 3.0 % | 2.0 % | 4.0 % | +0.0 % | - | - | - |"));
}

TEST(ValidationReport, TheWorstRowsAreThoseFurthestOffByRatio) {
  const auto row = [](const char* id, double predicted) {
    ValidationRow out;
    out.id = id;
    out.source_key = "a";
    out.outcome = "ok";
    out.measured_step_time = 1;
    out.predicted_step_time = predicted;
    return out;
  };
  // A third is further off than 2.5 times; 1.1 is the best and not shown.
  const auto blocks = validation_blocks(
      summarise({row("best", 1.1), row("slow", 2.5), row("fast", 1 / 3.0)}, ValidateBy::source));
  const std::string& text = blocks.at("worst-rows");
  ASSERT_TRUE(contains(text, "fast") && contains(text, "slow"));
  EXPECT_LT(text.find("fast"), text.find("slow"));
  EXPECT_FALSE(contains(text, "best"));
}

TEST(ValidationReport, NamesFromACorpusBringNoMarkup) {
  ValidationRow row;
  row.id = "a|b <script> [x](y) `";
  row.source_key = "<b>&\n";
  row.outcome = "ok";
  row.measured_step_time = row.predicted_step_time = 1;
  row.measured_memory = row.predicted_memory = 10;
  const ValidationReport report = summarise({row}, ValidateBy::source);
  EXPECT_TRUE(
      contains(validation_blocks(report).at("worst-rows"), "a\\|b &lt;script> \\[x\\](y) \\`"));
  for (const Plot& plot : validation_plots(report)) {
    EXPECT_FALSE(contains(plot.svg, "<b>")) << plot.name;
  }
}

}  // namespace
}  // namespace headway

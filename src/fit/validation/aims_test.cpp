#include "fit/validation/aims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace headway {
namespace {

ValidationRow predicted_as(const std::string& source, double predicted) {
  ValidationRow row;
  row.source_key = source;
  row.outcome = "ok";
  row.measured_step_time = 1;
  row.predicted_step_time = predicted;
  return row;
}

const Aim& find(const std::vector<Aim>& aims, const std::string& of, const std::string& measure) {
  const auto found = std::find_if(aims.begin(), aims.end(), [&](const Aim& aim) {
    return aim.of == of && aim.measure == measure;
  });
  EXPECT_NE(found, aims.end()) << of << ", " << measure;
  return *found;
}

TEST(Aims, AClassIsJudgedByItsOwnRowsOnly) {
  const auto aims =
      aims_of(summarise({predicted_as("dgxc", 1.04), predicted_as("mbridge", 0.94),
                         predicted_as("nemo_docs", 1.05), predicted_as("vtrain", 1.2)},
                        ValidateBy::source));
  const Aim& median = find(aims, "tuned rows", "step time, median error");
  EXPECT_EQ(median.rows, 3U);
  EXPECT_NEAR(*median.now, 0.05, 1e-12);  // of 0.04, 0.05, 0.06
  EXPECT_TRUE(median.met());
  const Aim& mean = find(aims, "vtrain", "step time, mean error");
  EXPECT_NEAR(*mean.now, 0.2, 1e-12);
  EXPECT_FALSE(mean.met());
}

TEST(Aims, WhatHasNoRowsIsNotMeasuredAndNotMet) {
  const auto aims = aims_of(summarise({predicted_as("vtrain", 1)}, ValidateBy::source));
  for (const Aim& aim : aims) {
    EXPECT_EQ(aim.now.has_value(), aim.of == "vtrain") << aim.of;
    EXPECT_EQ(aim.met(), aim.of == "vtrain") << aim.of;
  }
}

// By which programs know them, whatever the words.
TEST(Aims, HaveAnIdEach) {
  std::set<std::string> ids;
  for (const Aim& aim : aims_of(summarise({}, ValidateBy::source))) {
    EXPECT_TRUE(ids.insert(aim.id).second) << aim.id;
    EXPECT_EQ(aim.id.find(' '), std::string::npos) << aim.id;
  }
  EXPECT_TRUE(ids.contains("left-out-coverage"));  // of the page's Trust
}

TEST(Aims, ARangeIsMissedOnBothSides) {
  ValidationReport report = summarise({predicted_as("dgxc", 1)}, ValidateBy::source);
  const auto met = [&](double coverage) {
    report.intervals = IntervalFit{};
    report.intervals->classes = {{"all", 1, {}, {}, IntervalQuality{.coverage = coverage}}};
    return find(aims_of(report), "left-out sources", "step times inside the 80 % interval").met();
  };
  EXPECT_FALSE(met(0.76));
  EXPECT_TRUE(met(0.8));
  EXPECT_FALSE(met(0.84));
}

TEST(Aims, TheErrorOfTunedRowsIsThatOfFitsWithoutTheirSource) {
  ValidationReport report = summarise({predicted_as("dgxc", 1)}, ValidateBy::source);
  report.intervals = IntervalFit{};
  report.intervals->classes = {{"all", 9, {}, {9, 0.3, 0.3, 0.5, 0.1}, {}},
                               {"tuned", 5, {}, {5, 0.11, 0.12, 0.2, 0}, {}}};
  const auto aims = aims_of(report);
  EXPECT_EQ(find(aims, "tuned rows, their source left out", "step time, median error").now, 0.11);
}

TEST(Aims, OfSourcesAndScalesTheCoverageFarthestFromFourOfFiveCounts) {
  ValidationReport report = summarise({predicted_as("dgxc", 1)}, ValidateBy::source);
  report.intervals = IntervalFit{};
  const auto covered = [](const char* name, std::size_t rows, double coverage) {
    return Generalisation{name, rows, {}, {}, IntervalQuality{.coverage = coverage}};
  };
  // Twenty rows are too few to be judged alone.
  report.intervals->sources = {covered("a", 100, 0.85), covered("b", 30, 0.69),
                               covered("c", 20, 0.1)};
  report.intervals->scales = {covered("1-8", 5, 0.75), covered("9-16", 5, 0.88)};
  const auto aims = aims_of(report);
  const std::string same = "the same, ";
  EXPECT_EQ(find(aims, "left-out sources", same + "source of over 20 rows farthest from it").now,
            0.69);
  EXPECT_EQ(find(aims, "left-out sources", same + "class of scale farthest from it").now, 0.88);
}

}  // namespace
}  // namespace headway

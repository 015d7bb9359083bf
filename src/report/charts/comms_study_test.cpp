#include "report/charts/comms_study.hpp"

#include <gtest/gtest.h>

#include "report/charts/traffic.hpp"

namespace headway {
namespace {

const CommunicationStudy& study() {
  static const CommunicationStudy made = communication_study().value();
  return made;
}

int count(const std::string& text, const std::string& what) {
  int out = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++out;
  return out;
}

TEST(StudyPlots, EachStageOfEachModelIsABarOfItsOperations) {
  const std::string svg = plot_study_volume(study());
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  // A bar is 24 pixels wide: all-reduce; all-reduce and gather, twice; gather and reduce-scatter.
  EXPECT_EQ(count(svg, "width=\"24\""), 4 * (1 + 2 + 2 + 2));
  EXPECT_EQ(count(svg, ">ZeRO-3<"), 4);
}

TEST(StudyPlots, LinesOfTheSweepJoinAllLengths) {
  const std::string svg = plot_study_sequence(study());
  EXPECT_EQ(count(svg, "stroke-width=\"1.8\""), 3 * 4 * 5);  // 3 quantities, 4 models, 6 lengths
  EXPECT_EQ(count(svg, "stroke-dasharray"), 4 * 5);
}

TEST(StudyPlots, SizesOfAllFormsAreDrawn) {
  const std::string svg = plot_study_sizes(study());
  for (const char* form : {"ZeRO-1", "ZeRO-3", "tensor 4", "pipeline 4", "all three"}) {
    EXPECT_EQ(count(svg, std::string(">") + form + "<"), 4) << form;
  }
}

TEST(TrafficPlots, AreLegalDrawingsOfNothing) {
  EXPECT_NE(plot_volume({}, "x").find("nothing is sent"), std::string::npos);
  EXPECT_TRUE(plot_sizes({}, "<x>").ends_with("</svg>\n"));
  EXPECT_EQ(plot_sizes({}, "<x>").find("<x>"), std::string::npos);
}

TEST(TrafficPlots, ABarForEachGroupAndOperation) {
  const std::vector<TrafficCall>& calls = study().runs.front().calls;
  EXPECT_NE(plot_volume(calls, "x").find(">dp all_reduce<"), std::string::npos);
}

}  // namespace
}  // namespace headway

#include "study/ramp/profile.hpp"

#include <gtest/gtest.h>

#include "study/ramp/step_graph.hpp"

namespace headway {
namespace {

constexpr const char* kFigures =
    " -- forward_compute_time=1.5, backward_compute_time=2.5, activation_size=10.0, "
    "parameter_size=4\n";

std::string op(int id, const std::string& kind = "Conv2d(3, 64)") {
  return "node" + std::to_string(id) + " -- " + kind + kFigures;
}

std::string message_of(const std::string& text) {
  const auto profile = read_profile(text, "made");
  return profile
             ? ""
             : where_text(profile.problems().front()) + " " + profile.problems().front().message;
}

TEST(ModelProfile, IsReadInTheOrderOfItsFile) {
  const auto profile = read_profile(op(2, "ReLU(inplace)") + op(1) + "\tnode1 -- node2\n", "made");
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->ops[0].id, 2);
  EXPECT_EQ(profile->ops[0].kind, "ReLU");
  EXPECT_EQ(profile->ops[1].forward, Seconds(1.5));
  EXPECT_EQ(profile->ops[1].memory(), Bytes(14));
  ASSERT_EQ(profile->edges.size(), 1U);
  EXPECT_EQ(profile->edges[0].from, 1U);
}

TEST(ModelProfile, AListOfSizesStandsForItsSum) {
  const auto profile = read_profile(
      "node1 -- LSTM(8, 8) -- forward_compute_time=1, backward_compute_time=1, "
      "activation_size=[6; 2.0; 1], parameter_size=0\n",
      "made");
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->ops[0].activation, Bytes(9));
}

TEST(ModelProfile, WhatIsNotOfItsFormIsRefusedWithItsLine) {
  EXPECT_EQ(message_of(op(1) + "node1 - node2\n"),
            "made:2 is neither nodeN -- DESCRIPTION -- FIGURES nor nodeA -- nodeB");
  EXPECT_EQ(message_of("node1 -- ReLU -- forward_compute_time=nan\n"),
            "made:1 needs forward_compute_time=, from 0 to 1e18");
  EXPECT_EQ(message_of(op(1) + "node1 -- node9\n"),
            "made:2 joins a node that does not stand in the file");
  EXPECT_EQ(message_of(op(1) + op(2) + "node1 -- node2\nnode2 -- node1\n"),
            "made its edges run in a circle");
  EXPECT_EQ(message_of(op(1) + op(3)),
            "made node3: nodes must be numbered from 1 to their number, 2");
  EXPECT_EQ(message_of(""), "made holds no operations");
}

// [JOBS-3]: an even number, no part under 0.01.
TEST(StepGraph, SplitsOperationsEvenlyAndNoneBelowTheQuantum) {
  ModelProfile profile{"made", {}, {}};
  for (const double forward : {0.0, 0.001, 0.029, 0.05, 9.0}) {
    profile.ops.push_back({static_cast<int>(profile.ops.size()) + 1, "op", Seconds(forward),
                           Seconds(1), Bytes(1), Bytes(1)});
  }
  EXPECT_EQ(splits_of(profile, 4), (std::vector<int>{1, 2, 4, 4, 4}));
  EXPECT_EQ(splits_of(profile, 1), (std::vector<int>{1, 1, 1, 1, 1}));
}

// [JOBS-4]: the mirrored chain a -> b -> b' -> a', each split in two, has 4 edges for each of its
// three and 2 exchanges for each of its two operations.
TEST(StepGraph, MirrorsJoinsAndSplits) {
  const auto profile = read_profile(op(1) + op(2) + "node1 -- node2\n", "made");
  ASSERT_TRUE(profile.ok());
  const StepGraph graph = step_graph(*profile, {2, 2}, true);
  EXPECT_EQ(graph.parts.size(), 8U);
  EXPECT_EQ(graph.edges.size(), 3U * 4 + 2U * 2);
  EXPECT_EQ(graph.edges[0].size, Bytes(14.0 / 4));  // the memory of the source over both
  EXPECT_EQ(graph.edges.back().size, Bytes(14.0 / 2));
  const StepGraph right = step_graph(*profile, {2, 2}, false);
  EXPECT_EQ(right.edges[0].size, Bytes(10.0 / 4));     // its activation
  EXPECT_EQ(right.edges.back().size, Bytes(4.0 / 2));  // parameters
}

}  // namespace
}  // namespace headway

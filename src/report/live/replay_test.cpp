// What is said of a replay.
#include "report/live/replay.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

// Not 0 s, nor 100 % less than was forecast.
TEST(ReplayReport, OfACallThatWasNotRecordedSaysNoTime) {
  Replayed made;
  made.times.steps = {1e-3};
  made.calls.push_back({.group = "pp",
                        .op = Operation::send,
                        .ranks = 2,
                        .bytes = Bytes(64),
                        .count = 1,
                        .forecast = Seconds(1e-6)});
  EXPECT_NE(replay_csv(made).find("\npp,send,2,64,1,0,1e-06,,,,\n"), std::string::npos)
      << replay_csv(made);
  EXPECT_NE(replay_json(made).find("\"median_s\": null"), std::string::npos);
  EXPECT_EQ(replay_text(made).find("-100 %"), std::string::npos) << replay_text(made);
}

}  // namespace
}  // namespace headway

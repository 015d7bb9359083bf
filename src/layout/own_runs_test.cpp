#include "layout/own_runs.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

constexpr const char* kOne =
    "[[setup]]\naccelerator = 'h100-sxm'\nframework = 'megatron'\nbits = 16\nruns = 3\n"
    "factor = 1.1\ninterval = 0.5\nlooks = ['--unfused']\n";

Result<OwnRuns> read(const std::string& text) {
  return own_runs_from(parse_toml(text, "mine.toml").value());
}

Problems refused(const std::string& text) {
  const auto own = read(text);
  return own ? Problems() : own.problems();
}

TEST(OwnRuns, AreFoundByAcceleratorFrameworkAndBits) {
  const auto own = read(kOne);
  ASSERT_TRUE(own.ok()) << own.problems().front().message;
  Accelerator h100;
  h100.name = "h100-sxm";
  Job job;
  job.framework = framework_from("megatron").value();
  ASSERT_NE(own->of(setup_of(h100, job)), nullptr);
  EXPECT_EQ(own->of(setup_of(h100, job))->factor, 1.1);
  job.recipe = recipe_from("fp16");  // as many bits
  EXPECT_NE(own->of(setup_of(h100, job)), nullptr);
  job.recipe = recipe_from("mxfp8");
  EXPECT_EQ(own->of(setup_of(h100, job)), nullptr);
  job.recipe = recipe_from("bf16");
  h100.name = "h200";
  EXPECT_EQ(own->of(setup_of(h100, job)), nullptr);
}

TEST(OwnRuns, ThatAreNoneAreRefusedWithEveryReason) {
  EXPECT_EQ(refused("").size(), 1U);
  EXPECT_EQ(refused("[[setup]]\naccelerator = 'x'\nframework = 'no'\nbits = 7\nruns = 0\n"
                    "factor = 5\ninterval = 0\n")
                .size(),
            5U);
  EXPECT_EQ(refused(std::string(kOne) + kOne).size(), 1U);  // twice
  EXPECT_EQ(refused(std::string(kOne) + "colour = 1\n").size(), 1U);
  EXPECT_EQ(refused(std::string(kOne) + "agree = false\n").size(), 1U);  // and a factor
  EXPECT_EQ(refused("[[setup]]\naccelerator = 'x'\nframework = 'megatron'\nbits = 16\nruns = 1\n"
                    "factor = nan\ninterval = 0.5\n")
                .size(),
            2U);  // no number, and so not within its bounds
}

}  // namespace
}  // namespace headway

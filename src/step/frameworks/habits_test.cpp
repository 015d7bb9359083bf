#include "step/frameworks/habits.hpp"

#include <gtest/gtest.h>

#include <set>

namespace headway {
namespace {

// Each number of the table means something only inside these bounds.
TEST(Habits, OfEveryFrameworkLieWithinTheirBounds) {
  for (std::size_t i = 0; i < kFrameworkNames.size(); ++i) {
    const Habits& h = habits(static_cast<Framework>(i));
    const std::string_view name = kFrameworkNames[i];
    const std::set<double> sizes = {1, 2, 4};
    for (const double bytes : {h.weights, h.gradients, h.gradients_fp16, h.gathered, h.reduced}) {
      EXPECT_TRUE(sizes.contains(bytes)) << name << " " << bytes;
    }
    // fp32 weights are their own master copy; 16-bit ones need one.
    EXPECT_EQ(h.master_separate, h.weights < 4) << name;
    EXPECT_GE(h.transient_gradients, 0) << name;
    EXPECT_LE(h.transient_gradients, 4) << name;
    EXPECT_GE(h.loss_memory, 2) << name;  // the logits themselves
    EXPECT_LE(h.loss_memory, 16) << name;
    EXPECT_TRUE(h.recompute_early_stop == 0 || h.recompute_early_stop > 2016) << name;
    EXPECT_GE(h.gathered_blocks, 1) << name;
    EXPECT_LE(h.gathered_blocks, 4) << name;
    EXPECT_GE(h.bucket, 0) << name;
    EXPECT_GE(h.pipeline_metadata.value(), 0) << name;
    // Logits of 2 bytes are read at least once and their gradient is written.
    EXPECT_GE(h.loss_forward, 2) << name;
    EXPECT_GE(h.loss_backward, 2) << name;
    EXPECT_LE(h.loss_forward + h.loss_backward, 100) << name;
    EXPECT_GE(h.optimizer_passes, 1) << name;
    EXPECT_LE(h.optimizer_passes, 5) << name;
    EXPECT_GE(h.default_zero, 0) << name;
    EXPECT_LE(h.default_zero, 3) << name;
  }
}

TEST(Habits, InFp32GradientsTakeFourBytesEverywhere) {  // [STEP-10]
  for (std::size_t i = 0; i < kFrameworkNames.size(); ++i) {
    Job job;
    job.framework = static_cast<Framework>(i);
    for (const char* recipe : {"fp32", "tf32"}) {
      job.recipe = recipe_from(recipe);
      EXPECT_EQ(gradient_bytes(job), 4) << kFrameworkNames[i];
      EXPECT_EQ(reduced_bytes(job), 4) << kFrameworkNames[i];
    }
  }
}

TEST(Habits, AChoiceOverrulesTheHabit) {
  for (const bool habit : {false, true}) {
    EXPECT_EQ(chosen(Choice::framework, habit), habit);
    EXPECT_TRUE(chosen(Choice::on, habit));
    EXPECT_FALSE(chosen(Choice::off, habit));
  }
}

}  // namespace
}  // namespace headway

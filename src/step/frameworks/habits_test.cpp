#include "step/frameworks/habits.hpp"

#include <gtest/gtest.h>

#include <set>

namespace headway {
namespace {

// Each number of the table means something only inside these bounds.
TEST(Habits, OfEveryFrameworkLieWithinTheirBounds) {
  for (std::size_t i = 0; i < framework_names().size(); ++i) {
    const Habits& h = habits(static_cast<Framework>(i));
    const std::string_view name = framework_names()[i];
    const std::set<double> sizes = {1, 2, 4};
    for (const double bytes : {h.memory.weights, h.memory.gradients, h.memory.gradients_fp16,
                               h.sharding.gathered, h.reduction.reduced}) {
      EXPECT_TRUE(sizes.contains(bytes)) << name << " " << bytes;
    }
    // fp32 weights are their own master copy; 16-bit ones need one.
    EXPECT_EQ(h.memory.master_separate, h.memory.weights < 4) << name;
    EXPECT_GE(h.memory.transient_gradients, 0) << name;
    EXPECT_LE(h.memory.transient_gradients, 4) << name;
    EXPECT_GE(h.memory.loss, 2) << name;  // the logits themselves
    EXPECT_LE(h.memory.loss, 16) << name;
    EXPECT_GE(h.sharding.gathered_blocks, 1) << name;
    EXPECT_LE(h.sharding.gathered_blocks, 4) << name;
    EXPECT_GE(h.reduction.bucket, 0) << name;
    EXPECT_GE(h.pipeline.metadata.value(), 0) << name;
    // Logits of 2 bytes are read at least once and their gradient is written.
    EXPECT_GE(h.kernels.loss_forward, 2) << name;
    EXPECT_GE(h.kernels.loss_backward, 2) << name;
    EXPECT_LE(h.kernels.loss_forward + h.kernels.loss_backward, 100) << name;
    EXPECT_GE(h.kernels.optimizer_passes, 1) << name;
    EXPECT_LE(h.kernels.optimizer_passes, 5) << name;
    EXPECT_GE(h.sharding.zero, 0) << name;
    EXPECT_LE(h.sharding.zero, 3) << name;
  }
}

TEST(Habits, InFp32GradientsTakeFourBytesEverywhere) {  // [STEP-10]
  for (std::size_t i = 0; i < framework_names().size(); ++i) {
    Job job;
    job.framework = static_cast<Framework>(i);
    for (const char* recipe : {"fp32", "tf32"}) {
      job.recipe = recipe_from(recipe);
      EXPECT_EQ(gradient_bytes(job), Bytes(4)) << framework_names()[i];
      EXPECT_EQ(reduced_bytes(job), Bytes(4)) << framework_names()[i];
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

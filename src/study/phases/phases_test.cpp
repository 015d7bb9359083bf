#include "study/phases/phases.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

const RunRequest kBase = {{"model", "llama-2-7b"}, {"cluster", "dgx-h100"},
                          {"gpus", "64"},          {"seq", "4096"},
                          {"global-batch", "256"}, {"framework", "megatron"}};

Result<PhasesAnswer> answered(const std::string& text) {
  const auto document = parse_toml(text, "phases.toml");
  EXPECT_TRUE(document.ok());
  const auto question = read_phases(*document, kBase);
  if (!question) return question.problems();
  return answer_phases(*question);
}

TEST(Phases, OneLayoutThroughoutCostsNothingToChange) {
  const auto answer = answered(
      "[[phase]]\ntokens = '10B'\ntp = 2\nzero = 1\n[[phase]]\ntokens = '100B'\ntp = 2\nzero = 1\n"
      "global-batch = 512\n");
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->steps.size(), 2U);
  EXPECT_EQ(answer->steps[1].change, Seconds());
  Seconds sum;
  for (const PhaseStep& step : answer->steps) sum += step.whole.cost.time.total() + step.change;
  EXPECT_NEAR(sum.value(), answer->time.value(), 1e-6);
}

TEST(Phases, ChangingOverIsACheckpointWrittenAndReadAndARestart) {
  // [LAW-24]
  const auto answer = answered(
      "[[phase]]\ntokens = '10B'\ntp = 2\nzero = 1\n[[phase]]\ntokens = '100B'\ntp = 4\nzero = "
      "1\n");
  ASSERT_TRUE(answer.ok());
  const WholeRun& first = answer->steps[0].whole;
  WholeRun other = first;
  other.run.layout.tp *= 2;
  other.run.layout.dp /= 2;
  EXPECT_NEAR(
      change_over(first, other).value(),
      (2 * first.cost.checkpoint / first.assumed.checkpoint_bandwidth + first.assumed.restart)
          .value(),
      1e-9);
  other = first;
  other.run.layout.micro_batch *= 2;  // moves nothing
  EXPECT_EQ(change_over(first, other), Seconds());
}

TEST(Phases, TheSequenceOfLayoutsIsTheLeastOfAllSequences) {
  // [LAW-25] Never slower than each phase in its own, nor than any one layout throughout, and stays
  // where a phase is too short to pay for changing over.
  const auto answer = answered(
      "[[phase]]\nname = 'short'\ntokens = '1M'\ntp = 8\nzero = 1\n"
      "[[phase]]\nname = 'long'\ntokens = '200B'\ntp = 2\nzero = 1\n"
      "[[phase]]\nname = 'end'\ntokens = '1M'\ntp = 8\nzero = 1\n");
  ASSERT_TRUE(answer.ok());
  EXPECT_LE(answer->time, answer->own_time);
  ASSERT_TRUE(answer->fixed_time.has_value());
  EXPECT_LE(answer->time, *answer->fixed_time);
  for (const PhaseStep& step : answer->steps) EXPECT_EQ(step.change, Seconds()) << step.name;
}

TEST(Phases, EverythingThatIsWrongIsSaidOfItsPhase) {
  const auto answer = answered(
      "[[phase]]\nname = 'a'\ntokens = 'x'\n[[phase]]\ntokens = '1B'\ntp = 3\ncolour = 1\n");
  ASSERT_FALSE(answer.ok());
  EXPECT_GE(answer.problems().size(), 3U);
  EXPECT_FALSE(answered("best = true\n").ok());
  EXPECT_FALSE(answered("[[phase]]\nname = 3\ntokens = '1B'\n").ok());
}

}  // namespace
}  // namespace headway

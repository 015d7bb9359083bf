#include "study/traffic/communication.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

const CommunicationStudy& study() {
  static const CommunicationStudy made = communication_study().value();
  return made;
}

struct Shape {
  double layers, hidden;
  double published_millions;  // parameters of the configurations, vocabulary of 50,304, untied
  double m_gigabytes, ddp_gigabytes;
  double gradient_calls;        // buckets of 5e8 elements
  double activation_mebibytes;  // 4 sequences of 2,048 tokens
};
// By hand from the shapes in configs/{19M,125M,1.3B,13B}.yml of GPT-NeoX.
constexpr Shape kShapes[] = {{6, 512, 70.4, 0.141, 0.246, 1, 8},
                             {12, 768, 162.3, 0.325, 0.568, 1, 12},
                             {24, 2048, 1414.7, 2.829, 4.951, 3, 32},
                             {40, 5120, 13100.7, 26.20, 45.85, 27, 80}};

TEST(CommunicationStudy, SizesAndCountsOfEachModelFollowFromItsShape) {
  ASSERT_EQ(study().models.size(), std::size(kShapes));
  for (std::size_t i = 0; i < std::size(kShapes); ++i) {
    const Shape& shape = kShapes[i];
    const StudiedModel& found = study().models[i];
    SCOPED_TRACE(found.model);
    // Two tables, a final norm; in a layer 12 h^2 of weights, 9 h of biases, two norms of 2 h.
    const double h = shape.hidden;
    const double parameters = 2 * 50304 * h + shape.layers * (12 * h * h + 13 * h) + 2 * h;
    EXPECT_DOUBLE_EQ(found.parameters, parameters);
    EXPECT_NEAR(found.parameters / 1e6, shape.published_millions, 0.06);
    EXPECT_NEAR(found.weights.value() / 1e9, shape.m_gigabytes, 0.005 * shape.m_gigabytes);
    EXPECT_NEAR(found.gradient_wire.value(), 2 * 2 * parameters * 7 / 8, 1e-9 * parameters);
    EXPECT_NEAR(found.gradient_wire.value() / 1e9, shape.ddp_gigabytes,
                0.005 * shape.ddp_gigabytes);
    // Whole tensors do not fill buckets to the brim: at most one more.
    EXPECT_DOUBLE_EQ(std::ceil(parameters / 5e8), shape.gradient_calls);
    EXPECT_GE(found.gradient_calls, shape.gradient_calls);
    EXPECT_LE(found.gradient_calls, shape.gradient_calls + 1);
    const double activation = 4 * 2048 * h * 2;
    EXPECT_DOUBLE_EQ(found.activation.value(), activation);
    EXPECT_DOUBLE_EQ(activation / (1024 * 1024), shape.activation_mebibytes);
    EXPECT_DOUBLE_EQ(found.layer_reductions, 4 * shape.layers);
    EXPECT_DOUBLE_EQ(found.reduced.value(), 4 * shape.layers * activation);
    EXPECT_DOUBLE_EQ(found.boundary.value(), 2 * activation);
    // Besides, the embedding's sum, the head's gradient, and three of the loss.
    EXPECT_DOUBLE_EQ(found.all_reductions, 4 * shape.layers + 2 + 3);
  }
}

std::vector<const StudiedRun*> runs_of(StudyPart part, std::string_view model) {
  std::vector<const StudiedRun*> out;
  for (const StudiedRun& run : study().runs) {
    if (run.part == part && run.model == model) out.push_back(&run);
  }
  return out;
}

TEST(CommunicationStudy, ZeroThreeSendsUpToOneAndAHalfTimesWhatPlainDataParallelismDoes) {
  for (const StudiedModel& each : study().models) {
    const std::string& model = each.model;
    const auto runs = runs_of(StudyPart::data, model);
    ASSERT_EQ(runs.size(), 4u);
    const auto all = [](const StudiedRun& run) {
      double out = 0;
      for (const TrafficCall& call : run.calls) out += call.wire.value();
      return out;
    };
    // Two gathers and a reduction; less where weights stay gathered between the passes, which of
    // the largest model are few.
    const double ratio = all(*runs[3]) / all(*runs[0]);
    EXPECT_GT(ratio, model == "gpt-neox-13b" ? 1.45 : 0.99) << model;
    EXPECT_LT(ratio, 1.51) << model;
    EXPECT_NEAR(all(*runs[0]), 2 * runs[0]->weights.value() * 63 / 64, 1e6) << model;
  }
}

// By arXiv 1909.08053 the volume of tensor parallelism is in proportion to b s h L (t-1)/t; that of
// data parallelism knows no sequence length.
TEST(CommunicationStudy, TensorParallelVolumeGrowsWithTheSequenceAndDataParallelVolumeDoesNot) {
  for (const StudiedModel& each : study().models) {
    const std::string& model = each.model;
    const auto runs = runs_of(StudyPart::sequence, model);
    ASSERT_EQ(runs.size(), 6u);
    for (std::size_t i = 1; i < runs.size(); ++i) {
      EXPECT_EQ(runs[i]->sequence, 2 * runs[i - 1]->sequence);
      EXPECT_NEAR(wire_of(runs[i]->calls, Group::tp) / wire_of(runs[i - 1]->calls, Group::tp), 2,
                  1e-5);
      EXPECT_DOUBLE_EQ(wire_of(runs[i]->calls, Group::dp).value(),
                       wire_of(runs[0]->calls, Group::dp).value());
    }
  }
}

double wire(const StudiedRun& run) {
  double out = 0;
  for (const TrafficCall& call : run.calls) out += call.wire.value();
  return out;
}

// On the same ranks with the same batch a split of the model exposes what data parallelism hides.
TEST(CommunicationStudy, ModelParallelismAddsOverhead) {
  for (const StudiedModel& each : study().models) {
    const std::string& model = each.model;
    const auto runs = runs_of(StudyPart::overhead, model);
    ASSERT_EQ(runs.size(), 3u) << model;
    for (const StudiedRun* run : runs) EXPECT_EQ(run->layout.ranks(), 8);
    EXPECT_EQ(runs[0]->bubble, Seconds(0));
    EXPECT_GT(runs[2]->bubble, Seconds(0));
    // 4 all-reduces of b s h in each layer and micro-batch [COMM-6], more than the gradients.
    if (model != "gpt-neox-13b") {
      EXPECT_GT(wire(*runs[1]), wire(*runs[0])) << model;
    }
  }
}

// 3 m (d-1)/d of each rank at ZeRO-1 (DeepSpeed): of all ranks in proportion to d - 1.
TEST(CommunicationStudy, VolumeGrowsWithTheRanksAndWithTheModel) {
  double smaller = 0;
  for (const StudiedModel& each : study().models) {
    const std::string& model = each.model;
    const auto runs = runs_of(StudyPart::growth, model);
    ASSERT_EQ(runs.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const double d = std::pow(8, static_cast<double>(i + 1));
      EXPECT_EQ(runs[i]->layout.dp, static_cast<std::int64_t>(d));
      EXPECT_NEAR(wire(*runs[i]) / (3 * runs[i]->weights.value() * (d - 1) / d), 1, 1e-4);
    }
    EXPECT_GT(wire(*runs[0]), smaller);
    smaller = wire(*runs[0]);
  }
}

// Scores in full: attention's share of the FLOPs is (4 h² + 2 s h) / (12 h² + 2 s h + V h / L) of a
// layer with its share of the head, in multiples of 2 a token; of the parameters about 4 of 12 h².
TEST(CommunicationStudy, AttentionsShareOfParametersAndFlopsFollowsFromTheShape) {
  for (std::size_t i = 0; i < std::size(kShapes); ++i) {
    const double h = kShapes[i].hidden, layers = kShapes[i].layers;
    const StudiedModel& found = study().models[i];
    const double attention = layers * (4 * h * h + 4 * h + 2 * h);
    EXPECT_NEAR(found.attention_parameters, attention / found.parameters, 1e-9);
    const double flops = 4 * h * h + 2 * 2048 * h;
    EXPECT_NEAR(found.attention_flops, flops / (flops + 8 * h * h + 50304 * h / layers), 1e-9);
  }
}

// What is sent does not depend on the machine; how long it takes does.
TEST(CommunicationStudy, TheSameRunSendsAsMuchOnEveryClusterAndTakesAnotherTime) {
  const auto runs = runs_of(StudyPart::interconnect, "gpt-neox-13b");
  ASSERT_GE(runs.size(), 5u);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    EXPECT_NEAR(wire(*runs[i]) / wire(*runs[0]), 1, 1e-9) << runs[i]->cluster;
    EXPECT_NE(runs[i]->step_time, runs[0]->step_time);
  }
}

TEST(CommunicationStudy, MessagesASecondAreCallsOverTheStep) {
  for (const StudiedRun& run : study().runs) {
    double calls = 0;
    for (const TrafficCall& call : run.calls) calls += call.call.count;
    EXPECT_DOUBLE_EQ(run.calls_per_second() * run.step_time.value(), calls);
  }
}

TEST(CommunicationStudy, DegreesThatDoNotDivideAModelAreLeftOut) {
  EXPECT_EQ(runs_of(StudyPart::tensor, "gpt-neox-125m").size(), 2u);   // 12 heads: 2 and 4
  EXPECT_EQ(runs_of(StudyPart::pipeline, "gpt-neox-19m").size(), 2u);  // 6 layers: 2 and 4
  EXPECT_EQ(runs_of(StudyPart::tensor, "gpt-neox-13b").size(), 3u);
}

TEST(CommunicationStudy, TheMedianSizeIsThatOfTheMiddleCall) {
  TrafficCall small, large;
  small.call.bytes = Bytes(4);
  small.call.count = 3;
  large.call.bytes = Bytes(1000);
  large.call.count = 2;
  const std::vector<TrafficCall> calls = {large, small};
  EXPECT_EQ(size_at(calls, 0.5), Bytes(4));
  EXPECT_EQ(size_at(calls, 0.7), Bytes(1000));
  EXPECT_EQ(size_at(calls, 0), Bytes(4));
  EXPECT_EQ(size_at(calls, 1), Bytes(1000));
  EXPECT_EQ(size_at({}, 0.5), Bytes(0));
}

}  // namespace
}  // namespace headway

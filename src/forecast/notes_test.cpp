#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/load.hpp"
#include "forecast/predict/predict.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

// As of a config.json whose vision tower is left out.
TEST(Predict, SaysWhatIsToBeKnownOfTheModel) {
  Model model = load_model("llama-3.2-1b").value();
  model.notes = {"a tower is left out"};
  Job job;
  job.sequence = 2048;
  job.global_batch = 1;
  const Result<Forecast> forecast =
      predict(model, job, Layout(), load_cluster("dgx-h100").value(), AttentionFlops::full);
  ASSERT_TRUE(forecast.ok());
  EXPECT_EQ(std::count(forecast->notes.begin(), forecast->notes.end(), model.notes[0]), 1);
}

// BLOOM's 70 layers fill 12 stages with two places for embedding and head: 72 = 6 · 12.
TEST(Predict, SaysThatLayersDoNotDivideOnlyWhereTheyDoNot) {
  const auto notes = [](std::int64_t ends) {
    Job job;
    job.sequence = 2048;
    job.global_batch = 12;
    Layout layout;
    layout.pp = 12;
    layout.embedding_slots = ends / 2;
    layout.head_slots = ends - ends / 2;
    const Result<Forecast> forecast =
        predict(load_model("bloom-176b").value(), job, layout, load_cluster("dgx-h100").value(),
                AttentionFlops::full);
    std::string out;
    if (!forecast) return std::string("no forecast");
    for (const std::string& note : forecast->notes) {
      if (note.find("do not divide") != std::string::npos) out = note;
    }
    return out;
  };
  EXPECT_EQ(notes(0).rfind("70 layers do not divide into 12 pipeline chunks", 0), 0u) << notes(0);
  EXPECT_EQ(notes(2), "");
  EXPECT_EQ(notes(1).rfind("70 layers and the 1 that embedding and head count as do not divide", 0),
            0u)
      << notes(1);
}

}  // namespace
}  // namespace headway

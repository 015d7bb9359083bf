#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/load.hpp"
#include "forecast/predict/predict.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

// As of a config.json whose vision tower is left out.
TEST(Predict, SaysWhatIsToBeKnownOfTheModel) {
  headway::Run run{load_model("llama-3.2-1b").value(), load_cluster("dgx-h100").value(), {}, {}};
  run.model.notes = {"a tower is left out"};
  run.job.sequence = 2048;
  run.job.global_batch = 1;
  const Result<Forecast> forecast = predict(run);
  ASSERT_TRUE(forecast.ok());
  EXPECT_EQ(std::count(forecast->notes.begin(), forecast->notes.end(), run.model.notes[0]), 1);
}

// BLOOM's 70 layers on 12 stages: with two places for embedding and head 72 = 6 · 12.
TEST(Predict, SaysHowLayersAreSpreadWhereThatIsUneven) {
  const auto notes = [](std::int64_t stages, std::int64_t ends) {
    headway::Run run{load_model("bloom-176b").value(), load_cluster("dgx-h100").value(), {}, {}};
    run.job.sequence = 2048;
    run.job.global_batch = 12;
    run.layout.pp = stages;
    run.layout.embedding_slots = ends / 2;
    run.layout.head_slots = ends - ends / 2;
    const Result<Forecast> forecast = predict(run);
    std::string out;
    if (!forecast) return std::string("no forecast");
    for (const std::string& note : forecast->notes) {
      if (note.find("layers on") != std::string::npos) out = note;
    }
    return out.substr(0, out.find(" ("));
  };
  EXPECT_EQ(notes(12, 0), "70 layers on 12 pipeline chunks: 10 x 6, 2 x 5");
  EXPECT_EQ(notes(12, 1), "70 layers on 12 pipeline chunks: 11 x 6, 4");
  EXPECT_EQ(notes(12, 2), "70 layers on 12 pipeline chunks: 5, 10 x 6, 5");
  EXPECT_EQ(notes(10, 0), "");
}

}  // namespace
}  // namespace headway

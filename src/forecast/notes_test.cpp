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

}  // namespace
}  // namespace headway

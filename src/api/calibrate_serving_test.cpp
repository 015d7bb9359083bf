// headway calibrate serving.
#include <gtest/gtest.h>

#include "api/commands.hpp"

namespace headway {
namespace {

TEST(CalibrateServing, AsksForMeasurements) {
  CalibrateRequest request;
  request.what = "serving";
  const CommandOutput output = run_calibrate(request);
  ASSERT_EQ(output.problems.size(), 1U);
  EXPECT_NE(output.problems[0].message.find("--kernels FILE.csv"), std::string::npos);
}

TEST(CalibrateServing, NamesEveryFileThatIsNotThere) {
  CalibrateRequest request;
  request.what = "serving";
  request.kernels = "/nowhere/kernels.csv";
  request.corpus = "/nowhere/serving.csv";
  EXPECT_EQ(run_calibrate(request).problems.size(), 2U);
}

TEST(CalibrateServing, HasItsFilesToItself) {
  for (const char* what : {"", "steps", "kernels"}) {
    CalibrateRequest request;
    request.what = what;
    request.corpus = "serving.csv";
    const CommandOutput output = run_calibrate(request);
    ASSERT_EQ(output.problems.size(), 1U) << what;
    EXPECT_NE(output.problems[0].message.find("serving alone"), std::string::npos);
  }
}

}  // namespace
}  // namespace headway

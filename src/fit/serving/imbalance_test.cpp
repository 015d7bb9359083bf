#include "fit/serving/imbalance.hpp"

#include <gtest/gtest.h>

#include "fit/serving/served_rows_for_test.hpp"

namespace headway {
namespace {

// Times per token that routers as uneven as this would have: 16 to 128 clients of DeepSeek-V3 on
// eight B200, whose passes hit a half to nearly all of 256 experts.
TEST(ImbalanceFit, FindsTheOneThatMadeItsRows) {
  std::string rows;
  for (const char* clients : {"16", "32", "64", "128"}) {
    rows += std::string("a,s,x,deepseek-r1,671,b200_sxm,8,8,1,1,1,fp8,,vllm,0.19.0,") + clients +
            ",1024,1024,,,0.02,,,,,0,\n";
  }
  auto cases = read_serving(testing::table_of(rows));
  ASSERT_TRUE(cases.ok());
  for (ServedCase& each : cases.value()) {
    ASSERT_TRUE(each.asked);
    AskedServing asked = *each.asked;
    asked.serving.routing.power = 0.9;
    each.row.measured[1] = numbers_of(served(asked))[1];
  }
  const auto fit = fit_imbalance(*cases, 1);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->imbalance, 0.9, 1e-9);
  EXPECT_EQ(fit->rows, 4U);
  EXPECT_EQ(fit->models, 1U);
  EXPECT_NEAR(fit->tried[9].loss, 0, 1e-9);
  EXPECT_NEAR(fit->tried[9].p90, 0, 1e-9);
  EXPECT_GT(fit->tried[0].median, 0.01);
}

TEST(ImbalanceFit, OfRowsWithoutExpertsTellsNothing) {
  EXPECT_EQ(fit_imbalance({}, 1)->rows, 0U);
}

}  // namespace
}  // namespace headway

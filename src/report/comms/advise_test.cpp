#include "report/comms/advise.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

Advised of_one_second() {
  Advised out;
  out.measured = out.step_time = Seconds(1);
  out.forecast.step_time = Seconds(0.8);
  return out;
}

// The forecast leaves late ranks out, whether they are among the advice that is shown or not.
TEST(AdviseText, SaysThatTheForecastIsWithoutLateRanks) {
  Advised advised = of_one_second();
  EXPECT_EQ(advise_text(advised).find("without late ranks"), std::string::npos);
  advised.late_share = 0.2;
  EXPECT_NE(advise_text(advised).find("without late ranks"), std::string::npos);
}

TEST(AdviseText, OfALevelWithoutLongTransfersItSaysThatItWasFitted) {
  Advised advised = of_one_second();
  advised.links = {{"node", 1.5, false}, {"fabric", std::nullopt, true}};
  const std::string text = advise_text(advised);
  EXPECT_NE(text.find("level node at 1.50 of its"), std::string::npos) << text;
  EXPECT_NE(text.find("fabric fitted to the trace"), std::string::npos) << text;
  const auto document = nlohmann::json::parse(advise_json(advised));
  EXPECT_EQ(document["links"][0]["slower"], 1.5);
  EXPECT_TRUE(document["links"][1]["slower"].is_null());
}

}  // namespace
}  // namespace headway

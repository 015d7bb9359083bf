#include "report/infer/plots.hpp"

#include <gtest/gtest.h>

#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++out;
  return out;
}

LoadPoint point_of(std::int64_t clients) {
  LoadPoint out;
  out.load.batch = clients;
  const double times = static_cast<double>(clients);
  out.served.first_token = Seconds(0.1 * times);
  out.served.each_token = Seconds(0.01 * times);
  out.served.output_per_second = 50 * times;
  out.served.first_quantiles = Quantiles{Seconds(0.1), Seconds(0.2 * times), Seconds(0.3)};
  return out;
}

TEST(ServingPlots, DrawEachLoadOfACurve) {
  const Serving serving = testing::serving_of("llama-3-8b", "dgx-h100");
  LoadCurve curve;
  EXPECT_TRUE(infer_curve_plots(serving, {}, curve, "out").empty());
  curve.points = {point_of(1), point_of(4), point_of(16)};
  const auto plots = infer_curve_plots(serving, {}, curve, "out");
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].path, "out/load.svg");
  for (const char* said : {"first token", "its p90", "each after it", "clients of each copy"}) {
    EXPECT_EQ(count_of(plots[0].text, said), 1U) << said;
  }
  // Answers of one token have no others, and users no speed.
  for (LoadPoint& point : curve.points) point.served.each_token = Seconds(0);
  const auto without = infer_curve_plots(serving, {}, curve, "out");
  EXPECT_EQ(count_of(without[0].text, "each after it"), 0U);
  EXPECT_EQ(count_of(without[0].text, "tokens/s of a user"), 0U);
}

TEST(ServingPlots, DrawACurveOfPrefillAndDecodeApart) {
  ServingApart apart{testing::serving_of("llama-3-8b", "dgx-h100"),
                     testing::serving_of("llama-3-8b", "dgx-h100", 4), 2, 1};
  ApartCurve curve;
  EXPECT_TRUE(infer_curve_plots(apart, {}, curve, "out").empty());
  curve.points = {point_of(1), point_of(4), point_of(16)};
  const auto plots = infer_curve_plots(apart, {}, curve, "out");
  ASSERT_EQ(plots.size(), 1U);
  for (const char* said : {"clients of all copies", "on 6 NVIDIA"}) {
    EXPECT_GE(count_of(plots[0].text, said), 1U) << said;
  }
  EXPECT_GE(count_of(plots[0].text, "2 x tp1, 1 x tp4"), 1U);
}

TEST(ServingPlots, NameEachSplitOfAFrontOnce) {
  Offer offer{testing::serving_of("llama-3-8b", "dgx-h100"), {}, {}};
  offer.load.output = 100;
  offer.served.each_token = Seconds(0.01);
  offer.served.output_per_second = 100;
  BestOffers best;
  EXPECT_TRUE(infer_best_plots(offer.serving, offer.load, 4, best, "out").empty());
  best.front = {offer, offer};
  best.front[1].served.output_per_second = 200;
  offer.serving.tp = 4;
  best.front.push_back(offer);
  const auto plots = infer_best_plots(offer.serving, offer.load, 4, best, "out");
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].path, "out/front.svg");
  EXPECT_EQ(count_of(plots[0].text, ">tp1<"), 1U) << plots[0].text;
  EXPECT_EQ(count_of(plots[0].text, ">tp4<"), 1U);
}

}  // namespace
}  // namespace headway

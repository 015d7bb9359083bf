// Prefill and decode apart under ever more load.
#include <gtest/gtest.h>

#include "study/infer/search/curve.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

ServingApart one_beside_one() {
  const Serving one = testing::serving_of("llama-3-8b", "dgx-h100");
  return {one, one};
}

const Load kAsked{.input = 1000, .output = 100};

// [INFER-19] Twice as many clients each time, none fewer of whom is answered less, and no more in
// all than the slowest part can: the last gets nearly that, the one before it not.
TEST(ApartCurve, OfClientsEndsWhereNoMoreAreAnswered) {
  const ServingApart apart = one_beside_one();
  const ServingConstants constants = testing::constants_of(apart.decode);
  const auto curve = load_curve(apart, constants, kAsked, CurveOf::clients, 1, {});
  ASSERT_TRUE(curve);
  ASSERT_GE(curve->points.size(), 5U);
  double before = 0;
  for (std::size_t i = 0; i < curve->points.size(); ++i) {
    EXPECT_EQ(curve->points[i].load.batch, std::int64_t{1} << i);
    const double output = curve->points[i].served.output_per_second;
    EXPECT_GE(output, 0.95 * before) << i;
    EXPECT_LE(output, 1.05 * 100 * *curve->capacity) << i;
    before = output;
  }
  EXPECT_EQ(*curve->capacity, curve->parts.rates.least());
  EXPECT_GE(before, 0.9 * 100 * *curve->capacity);
}

// Of answers of one token most of a client's time is the way into the server and out of it.
TEST(ApartCurve, OfShortAnswersGoesOnToCapacity) {
  const ServingApart apart = one_beside_one();
  const ServingConstants constants = testing::constants_of(apart.decode);
  for (const Load& asked : {Load{.input = 1000, .output = 1}, {.input = 100, .output = 4}}) {
    const auto curve = load_curve(apart, constants, asked, CurveOf::clients, 1, {});
    ASSERT_TRUE(curve);
    const double answered =
        curve->points.back().served.output_per_second / static_cast<double>(asked.output);
    EXPECT_GE(answered, 0.9 * *curve->capacity) << asked.output;
  }
}

// Copies of both answer in proportion, and more clients before no more are.
TEST(ApartCurve, OfTwiceAsManyCopiesHasTwiceTheCapacity) {
  ServingApart apart = one_beside_one();
  const ServingConstants constants = testing::constants_of(apart.decode);
  const auto one = load_curve(apart, constants, kAsked, CurveOf::rate, 1, {});
  apart.prefill_copies = apart.decode_copies = 2;
  const auto two = load_curve(apart, constants, kAsked, CurveOf::rate, 1, {});
  ASSERT_TRUE(one && two);
  EXPECT_NEAR(*two->capacity / *one->capacity, 2, 1e-9);
  ASSERT_EQ(two->points.size(), one->points.size());
  EXPECT_NEAR(two->points.back().load.rate, 0.95 * *two->capacity, 1e-9 * *two->capacity);
  for (const LoadPoint& point : two->points) EXPECT_TRUE(point.served.stable());
}

TEST(ApartCurve, OfAnswersOfOneTokenIsOfPrefillAlone) {
  const ServingApart apart = one_beside_one();
  const ServingConstants constants = testing::constants_of(apart.decode);
  const Load asked{.input = 1000, .output = 1};
  const auto curve = load_curve(apart, constants, asked, CurveOf::clients, 1, {});
  ASSERT_TRUE(curve);
  EXPECT_GE(curve->points.size(), 2U);
  EXPECT_EQ(curve->parts.binding(), "prefill");
}

TEST(ApartCurve, OfWhatDoesNotFitIsEmpty) {
  ServingApart apart = one_beside_one();
  apart.decode.model = *load_model("llama-3-70b");
  const ServingConstants constants = testing::constants_of(apart.decode);
  const auto curve = load_curve(apart, constants, kAsked, CurveOf::clients, 1, {});
  ASSERT_TRUE(curve);
  EXPECT_TRUE(curve->points.empty());
  EXPECT_FALSE(curve->parts.decode_fits);
}

TEST(ApartCurve, IsNothingWhereItWasStopped) {
  const ServingApart apart = one_beside_one();
  const ServingConstants constants = testing::constants_of(apart.decode);
  const auto stop = [](std::size_t, std::size_t) { return false; };
  EXPECT_FALSE(load_curve(apart, constants, kAsked, CurveOf::rate, 1, stop));
}

}  // namespace
}  // namespace headway

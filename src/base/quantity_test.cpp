#include "base/quantity.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <type_traits>

namespace headway {
namespace {

// Dimension arithmetic, checked by the compiler. What must not compile is in tests/compile_fail.
static_assert(std::is_same_v<decltype(Bytes() / BytesPerSecond()), Seconds>);
static_assert(std::is_same_v<decltype(Bytes() / Seconds()), BytesPerSecond>);
static_assert(std::is_same_v<decltype(BytesPerSecond() * Seconds()), Bytes>);
static_assert(std::is_same_v<decltype(Flops() / FlopsPerSecond()), Seconds>);
static_assert(std::is_same_v<decltype(FlopsPerSecond() * Seconds()), Flops>);
static_assert(std::is_same_v<decltype(Watts() * Seconds()), Joules>);
static_assert(std::is_same_v<decltype(Joules() / Watts()), Seconds>);
static_assert(std::is_same_v<decltype(Flops() / Bytes()), Quantity<0, -1, 1, 0>>);
static_assert(std::is_same_v<decltype(FlopsPerSecond() / BytesPerSecond()), Quantity<0, -1, 1, 0>>);
static_assert(std::is_same_v<decltype(Seconds() / Seconds()), double>);
static_assert(std::is_same_v<decltype(Quantity<-1, 0, 0, 0>() * Seconds()), double>);
static_assert(std::is_same_v<decltype(2.0 * Seconds()), Seconds>);
static_assert(std::is_same_v<decltype(Seconds() / 2.0), Seconds>);
static_assert(!std::is_convertible_v<double, Seconds>);
static_assert(!std::is_convertible_v<Seconds, double>);
static_assert(!std::is_convertible_v<Seconds, Bytes>);
static_assert(!std::is_constructible_v<Seconds, Bytes>);
static_assert(std::is_trivially_copyable_v<Seconds> && sizeof(Seconds) == sizeof(double));

TEST(Quantity, BytesOverBandwidthAreSeconds) {
  constexpr Seconds time = Bytes(8e9) / BytesPerSecond(4e9);
  EXPECT_EQ(time, 2.0_s);
}

TEST(Quantity, StartsAtZero) {
  EXPECT_EQ(Seconds().value(), 0);
}

TEST(Quantity, LiteralsAreInSiUnits) {
  EXPECT_EQ((2.5_s).value(), 2.5);
  EXPECT_DOUBLE_EQ((3.0_us).value(), 0.000003);
  EXPECT_EQ((7_B).value(), 7);
  EXPECT_EQ((1_MiB).value(), 1048576);
  EXPECT_EQ((80_GiB).value(), 85899345920.0);
}

TEST(Quantity, ComparesByValue) {
  EXPECT_LT(1.0_s, 2.0_s);
  EXPECT_GT(1_GiB, 1_MiB);
  EXPECT_LE(-(1.0_s), Seconds());
}

RC_GTEST_PROP(Quantity, ArithmeticIsThatOfTheNumbers, (double a, double b, double factor)) {
  Seconds sum(a);
  sum += Seconds(b);
  RC_ASSERT(sum.value() == a + b);
  RC_ASSERT((Seconds(a) + Seconds(b)).value() == a + b);
  RC_ASSERT((Seconds(a) - Seconds(b)).value() == a - b);
  RC_ASSERT((Bytes(a) * factor).value() == a * factor);
  RC_ASSERT((factor * Bytes(a)).value() == factor * a);
  Joules scaled(a);
  scaled *= factor;
  scaled -= Joules(b);
  RC_ASSERT(scaled.value() == a * factor - b);
  RC_PRE(factor != 0);
  scaled /= factor;
  RC_ASSERT(scaled.value() == (a * factor - b) / factor);
  RC_ASSERT((Joules(a) / Watts(factor)).value() == a / factor);
  RC_ASSERT(Watts(a) / Watts(factor) == a / factor);
}

}  // namespace
}  // namespace headway

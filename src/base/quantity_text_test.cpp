#include "base/quantity_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace headway {
namespace {

template <class Q>
void expect_value(std::string_view text, double si) {
  const Result<Q> result = parse_quantity<Q>(text, "field");
  ASSERT_TRUE(result.ok()) << text << ": " << result.problems()[0].message;
  EXPECT_DOUBLE_EQ(result->value(), si) << text;
}

template <class Q>
std::string problem_of(std::string_view text) {
  const Result<Q> result = parse_quantity<Q>(text, "a.toml:3: memory");
  if (result.ok()) return "accepted as " + std::to_string(result->value());
  EXPECT_EQ(result.problems().size(), 1u);
  EXPECT_EQ(where_text(result.problems()[0]), "a.toml:3: memory");
  return result.problems()[0].message;
}

TEST(ParseQuantity, ReadsEveryUnitOfItsDimension) {
  expect_value<Seconds>("2 s", 2);
  expect_value<Seconds>("1.5 ms", 0.0015);
  expect_value<Seconds>("12us", 12e-6);
  expect_value<Seconds>("12 µs", 12e-6);
  expect_value<Seconds>("5 ns", 5e-9);
  expect_value<Seconds>("10 min", 600);
  expect_value<Seconds>("1.5 h", 5400);
  expect_value<Seconds>("2 d", 172'800);
  expect_value<Bytes>("1 B", 1);
  expect_value<Bytes>("1 kB", 1e3);
  expect_value<Bytes>("40 MB", 40e6);
  expect_value<Bytes>("80 GB", 80e9);
  expect_value<Bytes>("2 TB", 2e12);
  expect_value<Bytes>("2 PB", 2e15);
  expect_value<Bytes>("1 KiB", 1024);
  expect_value<Bytes>("1 MiB", 1048576);
  expect_value<Bytes>("80 GiB", 85899345920.0);
  expect_value<Bytes>("1 TiB", 1099511627776.0);
  expect_value<BytesPerSecond>("7 B/s", 7);
  expect_value<BytesPerSecond>("7 kB/s", 7e3);
  expect_value<BytesPerSecond>("7 MB/s", 7e6);
  expect_value<BytesPerSecond>("450 GB/s", 450e9);
  expect_value<BytesPerSecond>("3.35 TB/s", 3.35e12);
  expect_value<BytesPerSecond>("1 PB/s", 1e15);
  expect_value<BytesPerSecond>("1 KiB/s", 1024);
  expect_value<BytesPerSecond>("1 MiB/s", 1048576);
  expect_value<BytesPerSecond>("1 GiB/s", 1073741824);
  expect_value<BytesPerSecond>("1 TiB/s", 1099511627776.0);
  expect_value<BytesPerSecond>("8 Mb/s", 1e6);
  expect_value<BytesPerSecond>("400 Gb/s", 50e9);
  expect_value<BytesPerSecond>("1.6 Tb/s", 200e9);
  expect_value<Flops>("3 FLOP", 3);
  expect_value<Flops>("3 kFLOP", 3e3);
  expect_value<Flops>("3 MFLOP", 3e6);
  expect_value<Flops>("3 GFLOP", 3e9);
  expect_value<Flops>("3 TFLOP", 3e12);
  expect_value<Flops>("3 PFLOP", 3e15);
  expect_value<Flops>("3 EFLOP", 3e18);
  expect_value<FlopsPerSecond>("3 FLOP/s", 3);
  expect_value<FlopsPerSecond>("3 kFLOP/s", 3e3);
  expect_value<FlopsPerSecond>("3 MFLOP/s", 3e6);
  expect_value<FlopsPerSecond>("3 GFLOP/s", 3e9);
  expect_value<FlopsPerSecond>("989.4 TFLOP/s", 989.4e12);
  expect_value<FlopsPerSecond>("2 PFLOP/s", 2e15);
  expect_value<FlopsPerSecond>("1 EFLOP/s", 1e18);
  expect_value<Watts>("700 W", 700);
  expect_value<Watts>("10.2 kW", 10200);
  expect_value<Watts>("30 MW", 30e6);
  expect_value<Joules>("5 J", 5);
  expect_value<Joules>("5 kJ", 5e3);
  expect_value<Joules>("5 MJ", 5e6);
  expect_value<Joules>("2 kWh", 7.2e6);
  expect_value<Joules>("2 MWh", 7.2e9);
}

TEST(ParseQuantity, TakesExponentsSignsAndBlanksAroundTheUnit) {
  expect_value<Bytes>("1e3 GB", 1e12);
  expect_value<Seconds>("-2.5 s", -2.5);
  expect_value<Seconds>("3   us  ", 3e-6);
}

TEST(ParseQuantity, ABareNumberIsAProblemThatNamesTheUnits) {
  EXPECT_EQ(problem_of<Watts>("700"),
            "'700' has no unit; write a number and one of the units W, kW, MW, e.g. \"1.5 MW\"");
  EXPECT_NE(problem_of<Bytes>("80").find("GiB"), std::string::npos);
}

TEST(ParseQuantity, AUnitOfAnotherDimensionIsAProblem) {
  EXPECT_NE(problem_of<Bytes>("80 GB/s").find("'GB/s' is not a unit that fits here"),
            std::string::npos);
  EXPECT_NE(problem_of<BytesPerSecond>("80 GB").find("'GB'"), std::string::npos);
  EXPECT_NE(problem_of<FlopsPerSecond>("80 TFLOPS").find("TFLOP/s"), std::string::npos);
}

TEST(ParseQuantity, CapitalsMatter) {
  // Mb and MB, ms and Ms differ by orders of magnitude: nothing is guessed.
  EXPECT_NE(problem_of<Bytes>("1 gb").find("'gb'"), std::string::npos);
  EXPECT_NE(problem_of<Seconds>("1 Ms").find("'Ms'"), std::string::npos);
}

TEST(ParseQuantity, WhatIsNoFiniteNumberIsAProblem) {
  for (const char* text : {"", " ", "s", "GB", "- s", "nan s", "inf s", "-inf s", "1e400 s",
                           "1e999999999 s", "0x10 s", "1,5 s", "1.5.2 s", "+1 s", "one s"}) {
    EXPECT_FALSE(parse_quantity<Seconds>(text, "f").ok()) << "'" << text << "'";
  }
}

TEST(ParseQuantity, ANumberThatItsUnitMakesInfiniteIsAProblem) {
  EXPECT_NE(problem_of<Bytes>("1e300 PB").find("is too large"), std::string::npos);
}

TEST(ParseQuantity, ItsProblemsHoldNoControlCharacters) {
  const std::string message = problem_of<Bytes>("5 \x1b[2J");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_NE(message.find("\\x1b[2J"), std::string::npos);
}

TEST(QuantityToText, ShowsThreeDigitsAndAFittingPrefix) {
  EXPECT_EQ(to_text(Seconds(13.75)), "13.8 s");
  EXPECT_EQ(to_text(Seconds(0.00123)), "1.23 ms");
  EXPECT_EQ(to_text(Seconds(4.5e-6)), "4.50 us");
  EXPECT_EQ(to_text(Seconds(7.77e-9)), "7.77 ns");
  EXPECT_EQ(to_text(Bytes(62.1 * 1024 * 1024 * 1024)), "62.1 GiB");
  EXPECT_EQ(to_text(Bytes(17)), "17.0 B");
  EXPECT_EQ(to_text(FlopsPerSecond(140.4e12)), "140 TFLOP/s");
  EXPECT_EQ(to_text(BytesPerSecond(3.35e12)), "3.35 TB/s");
  EXPECT_EQ(to_text(Watts(10200)), "10.2 kW");
  EXPECT_EQ(to_text(Joules(3.6e9)), "3.60 GJ");
  EXPECT_EQ(to_text(Flops(6e21)), "6000 EFLOP");
  EXPECT_EQ(to_text(Seconds(12345)), "12345 s");
}

TEST(QuantityToText, RoundsUpIntoTheNextPrefix) {
  EXPECT_EQ(to_text(Watts(999.4)), "999 W");
  EXPECT_EQ(to_text(Watts(999.6)), "1.00 kW");
  EXPECT_EQ(to_text(Watts(9.996)), "10.0 W");
  EXPECT_EQ(to_text(Watts(99.96)), "100 W");
  EXPECT_EQ(to_text(Bytes(1010)), "1010 B");
  EXPECT_EQ(to_text(Bytes(1023.9)), "1.00 KiB");
}

TEST(QuantityToText, ZeroSignsAndExtremes) {
  EXPECT_EQ(to_text(Seconds()), "0 s");
  EXPECT_EQ(to_text(Seconds(-0.25)), "-250 ms");
  EXPECT_EQ(to_text(Bytes(INFINITY)), "inf B");
  EXPECT_EQ(to_text(Bytes(-INFINITY)), "-inf B");
  EXPECT_EQ(to_text(Bytes(NAN)), "nan B");
  EXPECT_EQ(to_text(Watts(1e300)), "1.00e+282 EW");
}

// What is written for people can be read again, and is off by no more than its rounding.
RC_GTEST_PROP(QuantityToText, CanBeReadBackToThreeDigits, ()) {
  const auto drawn = [](int least, int most) {  // thousandths of the decimal logarithm
    return std::pow(10.0, *rc::gen::inRange(least, most) / 1000.0);
  };
  const double small = drawn(-9000, 6000);
  const double large = drawn(0, 14000);
  const auto close = [](double read, double value) { return std::abs(read / value - 1) < 0.00501; };
  RC_ASSERT(close(parse_quantity<Seconds>(to_text(Seconds(small)), "")->value(), small));
  RC_ASSERT(close(parse_quantity<Bytes>(to_text(Bytes(large)), "")->value(), large));
  const BytesPerSecond bandwidth(large);
  RC_ASSERT(close(parse_quantity<BytesPerSecond>(to_text(bandwidth), "")->value(), large));
  const FlopsPerSecond rate(large);
  RC_ASSERT(close(parse_quantity<FlopsPerSecond>(to_text(rate), "")->value(), large));
}

TEST(QuantityText, CountsHaveCommasAndSharesAreInPercent) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999.4), "999");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(count_text(-1234), "-1,234");
  EXPECT_EQ(percent_text(0.1234), "12.3 %");
}

RC_GTEST_PROP(ParseQuantity, NeverCrashesAndNeverReturnsWhatIsNotFinite,
              (const std::string& text)) {
  const Result<Bytes> bytes = parse_quantity<Bytes>(text, "f");
  RC_ASSERT((bytes.ok() ? std::isfinite(bytes->value()) : bytes.problems().size() == 1));
}

TEST(QuantityText, DurationsAndLargeCountsHaveTheirUnit) {
  EXPECT_EQ(duration_text(Seconds(5.25)), "5.25 s");
  EXPECT_EQ(duration_text(Seconds(90)), "1.50 min");
  EXPECT_EQ(duration_text(Seconds(36'000)), "10.0 h");
  EXPECT_EQ(duration_text(Seconds(86'400 * 365.0)), "365 d");
  EXPECT_EQ(short_count_text(1'234'567), "1,234,567");
  EXPECT_EQ(short_count_text(15.6e12), "15.6 T");
}

}  // namespace
}  // namespace headway

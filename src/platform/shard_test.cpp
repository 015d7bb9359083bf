#include "platform/shard.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "base/formatted.hpp"

namespace headway {
namespace {

RC_GTEST_PROP(Shard, is_one_of_those_of_which_each_piece_is_in_one, (std::uint64_t place)) {
  const auto of = *rc::gen::inRange<std::uint64_t>(1, 50);
  std::uint64_t in = 0;
  for (std::uint64_t i = 0; i < of; ++i) in += Shard{i, of}.has(place) ? 1 : 0;
  RC_ASSERT(in == 1);
}

// What every second or third piece has alike would else be one part's alone.
TEST(Shard, HasAsMuchOfEachKindOfPiece) {
  for (const std::uint64_t of : {2, 3, 7}) {
    for (const std::uint64_t period : {2, 3, 6, 7}) {
      std::uint64_t in = 0;
      for (std::uint64_t i = 0; i < 10'000; ++i) in += Shard{0, of}.has(i * period) ? 1 : 0;
      EXPECT_NEAR(static_cast<double>(in) * static_cast<double>(of), 1e4, 500)
          << of << " " << period;
    }
  }
}

TEST(Shard, IsWrittenFromOneAndRefusedOutOfRange) {
  const auto shard = shard_from("2/7");
  ASSERT_TRUE(shard.ok());
  EXPECT_EQ(*shard, (Shard{1, 7}));
  EXPECT_EQ(shard_text(*shard), "2/7");
  for (const char* text : {"", "/", "2", "2/", "/7", "0/7", "8/7", "-1/7", "1/0", "a/b", "1/2/3",
                           "1 / 2", "1/10000001", "99999999999999999999/7", "1.5/2"}) {
    const auto wrong = shard_from(text);
    ASSERT_FALSE(wrong.ok()) << text;
    EXPECT_EQ(wrong.problems().front().fields.front().name, "shard") << text;
  }
  EXPECT_EQ(shard_from("8/7").problems().front().message,
            "is out of range: its parts are 1/7 to 7/7");
}

RC_GTEST_PROP(ExactText, is_read_to_the_last_digit, (double value)) {
  RC_ASSERT(exact_number(shortest_text(value)) == value);
}

TEST(ExactNumber, IsFiniteAndTheWholeText) {
  for (const char* text : {"", "nan", "inf", "1e999", "1 ", "1x"}) {
    EXPECT_FALSE(exact_number(text)) << text;
  }
  EXPECT_FALSE(exact_count("-1"));
  EXPECT_EQ(exact_count("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

PieceWork squares() {
  return {
      .name = "squares", .count = 20, .make = [](std::size_t i) { return std::to_string(i * i); }};
}

TEST(Divide, GivesOfAllPartsWhatTheWholeWorkGives) {
  const auto whole = divide({}, squares(), 1, {});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ((*whole)[7], "49");
  for (const std::uint64_t of : {1, 2, 3, 7, 30}) {
    std::vector<PartLines> parts(of);
    for (std::uint64_t i = 0; i < of; ++i) {
      ASSERT_TRUE(divide({.only = Shard{i, of}, .into = &parts[i]}, squares(), 2, {}).ok());
    }
    const auto merged = divide({.parts = &parts}, squares(), 1, {});
    ASSERT_TRUE(merged.ok());
    EXPECT_EQ(*merged, *whole);
  }
}

TEST(Divide, RefusesPartsThatDoNotHoldWhatTheyShould) {
  std::vector<PartLines> parts(2);
  for (std::uint64_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(divide({.only = Shard{i, 2}, .into = &parts[i]}, squares(), 1, {}).ok());
  }
  const auto refused = [&](const auto& change) {
    std::vector<PartLines> other = parts;
    change(other);
    EXPECT_FALSE(divide({.parts = &other}, squares(), 1, {}).ok());
  };
  refused([](auto& p) { std::swap(p[0], p[1]); });
  refused([](auto& p) { p[0]["squares"].pop_back(); });
  refused([](auto& p) { p[0]["squares"].push_back(p[0]["squares"].front()); });
  refused([](auto& p) { p[0]["squares"].push_back("20 400"); });
  refused([](auto& p) { p[0]["squares"].front() = "x"; });
  refused([](auto& p) { p[1].clear(); });
}

TEST(Divide, SaysThatItWasStopped) {
  const auto out = divide({}, squares(), 1, [](std::size_t, std::size_t) { return false; });
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.problems().front().kind, Trouble::stopped);
}

}  // namespace
}  // namespace headway

#include "study/limits/along_widths.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace headway {
namespace {

TEST(UpToTheEnd, CountsUpToTheFirstThatEndsARowWhateverTheThreads) {
  // The second row ends nowhere, the third has no place; behind its first end the first has more.
  const std::vector<std::size_t> places = {100, 7, 0, 50};
  const auto ends = [](std::size_t row, std::size_t place) {
    return (row == 0 && (place == 20 || place == 21 || place == 60)) || (row == 3 && place == 0);
  };
  for (const int threads : {1, 2, 8}) {
    const auto counts = up_to_the_end(places, threads, {}, ends);
    ASSERT_TRUE(counts.has_value());
    EXPECT_EQ(*counts, (std::vector<std::size_t>{21, 7, 0, 1})) << threads;
  }
}

TEST(UpToTheEnd, LooksAtEveryPlaceThatIsCountedAndOnOneThreadAtNoOther) {
  std::vector<int> looked(30);
  const auto counts = up_to_the_end({30}, 1, {}, [&](std::size_t, std::size_t place) {
    ++looked[place];
    return place == 11;
  });
  ASSERT_TRUE(counts.has_value());
  for (std::size_t place = 0; place < looked.size(); ++place) {
    EXPECT_EQ(looked[place], place < counts->front() ? 1 : 0) << place;
  }
}

TEST(UpToTheEnd, StopsWhenItIsToldTo) {
  const auto stop = [](std::size_t, std::size_t) { return false; };
  EXPECT_FALSE(up_to_the_end({10}, 1, stop, [](std::size_t, std::size_t) { return false; }));
}

}  // namespace
}  // namespace headway

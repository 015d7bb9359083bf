#include "platform/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace headway {
namespace {

TEST(Parallel, EachIndexIsCalledOnceByAWorkerOfTheRange) {
  for (const int threads : {1, 2, 7}) {
    constexpr std::size_t kCount = 1000;
    std::vector<std::atomic<int>> calls(kCount);
    std::atomic<bool> in_range = true;
    EXPECT_TRUE(for_each_index(kCount, threads, [&](std::size_t i, std::size_t worker) {
      ++calls[i];
      if (worker >= workers_of(threads)) in_range = false;
    }));
    EXPECT_TRUE(in_range);
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(calls[i], 1) << i;
  }
}

TEST(Parallel, NothingToDoIsDone) {
  EXPECT_TRUE(for_each_index(0, 0, [](std::size_t, std::size_t) { FAIL(); }));
}

TEST(Parallel, ProgressNeverGoesBackAndReachesTheEndOnOneThread) {
  std::vector<std::size_t> seen;
  for_each_index(
      100, 1, [](std::size_t, std::size_t) {},
      [&](std::size_t done, std::size_t of) {
        EXPECT_EQ(of, 100U);
        EXPECT_GT(done, seen.empty() ? 0 : seen.back());
        seen.push_back(done);
        return true;
      });
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back(), 100U);
}

TEST(Parallel, ProgressStopsTheWork) {
  std::atomic<std::size_t> calls = 0;
  EXPECT_FALSE(for_each_index(
      1'000'000, 2, [&](std::size_t, std::size_t) { ++calls; },
      [](std::size_t, std::size_t) { return false; }));
  EXPECT_LT(calls, 1'000'000U);
}

}  // namespace
}  // namespace headway

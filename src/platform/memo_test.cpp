#include "platform/memo.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace headway {
namespace {

TEST(Memo, MakesAValueOnceForEachNameAndKeepsItWhereItIs) {
  Memo<std::string> memo;
  int made = 0;
  const auto make = [&] { return std::string("value ") + std::to_string(++made); };
  const std::string& first = memo.of("a", make);
  EXPECT_EQ(memo.of("b", make), "value 2");
  for (int i = 0; i < 1000; ++i) memo.of(std::to_string(i), make);
  EXPECT_EQ(&memo.of("a", make), &first);
  EXPECT_EQ(first, "value 1");
  EXPECT_EQ(made, 1002);
}

TEST(Memo, ManyThreadsSeeTheSameValues) {
  Memo<int> memo;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        if (memo.of(std::to_string(i % 50), [&] { return i % 50; }) != i % 50) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace headway

#include "base/natural_order.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(NaturalOrder, NumbersInNamesCountAsNumbers) {
  EXPECT_TRUE(natural_less("rank2", "rank10"));
  EXPECT_FALSE(natural_less("rank10", "rank2"));
  EXPECT_TRUE(natural_less("rank02", "rank3"));
  EXPECT_TRUE(natural_less("a", "b"));
  EXPECT_TRUE(natural_less("rank", "rank1"));
  EXPECT_FALSE(natural_less("rank1", "rank1"));
  EXPECT_NE(natural_less("r01", "r1"), natural_less("r1", "r01"));  // an order, whichever
}

}  // namespace
}  // namespace headway

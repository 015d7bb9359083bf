#include "method/sparsity.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(SparseWeights, HardwareSavesWhatItCanUse) {
  // [LAW-17]
  const SparseShares anywhere = sparse_shares({.form = SparsityForm::none, .density = 0.1});
  EXPECT_EQ(anywhere.products, 1);
  EXPECT_NEAR(anywhere.weights, 0.1 + 1.0 / 16, 1e-12);
  const SparseShares pairs = sparse_shares({.form = SparsityForm::two_four, .density = 0.5});
  EXPECT_NEAR(pairs.products, 2.0 / 3, 1e-12);
  EXPECT_EQ(pairs.inference, 0.5);
  EXPECT_NEAR(pairs.weights, 0.5625, 1e-12);  // 9 bits for each 16: two values, two indices of four
  EXPECT_EQ(sparse_shares({.form = SparsityForm::two_four, .density = 0.6}).products, 1);
  const SparseShares blocks = sparse_shares({.form = SparsityForm::blocks, .density = 0.2});
  EXPECT_EQ(blocks.products, 0.2);
  // A mask of one bit a place costs 1/16; with few values their indices cost less.
  EXPECT_NEAR(sparse_shares({.density = 0.5, .masks_sent = true}).exchange, 0.5 + 1.0 / 16, 1e-12);
  EXPECT_NEAR(sparse_shares({.density = 0.01, .masks_sent = true}).exchange, 0.01 + 0.32 / 16,
              1e-12);
  EXPECT_EQ(sparse_shares({.density = 0.5}).exchange, 0.5);
}

}  // namespace
}  // namespace headway

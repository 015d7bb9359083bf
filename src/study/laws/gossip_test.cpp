#include "study/laws/gossip.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "study/laws/subnetworks.hpp"

namespace headway {
namespace {

// The mixing matrix of a ring written out.
SquareMatrix ring(std::size_t n) {
  SquareMatrix out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out.at(i, i) = out.at(i, (i + 1) % n) = out.at(i, (i + n - 1) % n) = 1.0 / 3;
  }
  return out;
}

TEST(Gossip, EigenvalueOfARingIsThatOfItsMatrixWrittenOut) {
  // [LAW-7] Jacobi's rotations on the matrix itself: the second largest modulus.
  for (const std::size_t n : {3U, 5U, 8U, 17U}) {
    const Vector all = eigenvalues(ring(n));
    const double second = std::max(std::abs(all.front()), std::abs(all[n - 2]));
    EXPECT_NEAR(mixing_eigenvalue(GossipGraph::ring, static_cast<std::int64_t>(n)), second, 1e-12)
        << n;
  }
}

TEST(Gossip, EigenvalueOfATorusIsThatOfItsMatrixWrittenOut) {
  constexpr std::size_t kSide = 4;
  SquareMatrix torus(kSide * kSide);
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t j = 0; j < kSide; ++j) {
      const std::size_t own = kSide * i + j;
      for (const std::size_t other :
           {own, kSide * ((i + 1) % kSide) + j, kSide * ((i + kSide - 1) % kSide) + j,
            kSide * i + (j + 1) % kSide, kSide * i + (j + kSide - 1) % kSide}) {
        torus.at(own, other) += 0.2;
      }
    }
  }
  const Vector all = eigenvalues(torus);
  EXPECT_NEAR(mixing_eigenvalue(GossipGraph::torus, 16),
              std::max(std::abs(all.front()), std::abs(all[14])), 1e-12);
}

TEST(Gossip, EigenvalueOfAnExponentialGraphIsTheClosedFormOfYing) {
  // (t - 1)/(t + 1), t = ⌈log2 n⌉, of even n.
  for (const auto& [n, t] :
       {std::pair(4, 2), std::pair(16, 4), std::pair(64, 6), std::pair(6, 3)}) {
    EXPECT_NEAR(mixing_eigenvalue(GossipGraph::exponential, n),
                static_cast<double>(t - 1) / (t + 1), 1e-12)
        << n;
  }
}

TEST(Gossip, GapsShrinkAsTheSquareTheFirstPowerAndTheLogarithmOfTheRanks) {
  const auto gap = [](GossipGraph graph, std::int64_t n) {
    return 1 - mixing_eigenvalue(graph, n);
  };
  // Four times the ranks: 1/16, 1/4, and log 64/log 256 with one added on both sides.
  EXPECT_NEAR(gap(GossipGraph::ring, 256) / gap(GossipGraph::ring, 64), 1.0 / 16, 0.002);
  EXPECT_NEAR(gap(GossipGraph::torus, 256) / gap(GossipGraph::torus, 64), 1.0 / 4, 0.01);
  EXPECT_NEAR(gap(GossipGraph::exponential, 256) / gap(GossipGraph::exponential, 64), 7.0 / 9,
              1e-12);
  EXPECT_EQ(mixing_eigenvalue(GossipGraph::complete, 64), 0);
  EXPECT_EQ(gossip_neighbours(GossipGraph::ring, 2), 1);
  EXPECT_NEAR(mixing_eigenvalue(GossipGraph::ring, 2), 0, 1e-12);  // the mean of two
}

TEST(Gossip, OfOneNeighbourTheCosineOfTwoTheRingOfAllTheWhole) {
  // [LAW-7] (1 + e^{i t})/2 has the modulus cos t/2.
  for (const std::int64_t ranks : {3, 8, 64}) {
    const double angle = M_PI / static_cast<double>(ranks);
    EXPECT_NEAR(mixing_eigenvalue(1, ranks), std::cos(angle), 1e-12);
    EXPECT_NEAR(mixing_eigenvalue(2, ranks), mixing_eigenvalue(GossipGraph::ring, ranks), 1e-12);
    EXPECT_NEAR(mixing_eigenvalue(ranks - 1, ranks), 0, 1e-12);
    EXPECT_NEAR(mixing_eigenvalue(2 * ranks, ranks), 0, 1e-12);
  }
  EXPECT_NEAR(mixing_eigenvalue(2, 2), 0, 1e-12);
}

TEST(Gossip, DisagreementShrinksByTheEigenvalueEachStep) {
  // [LAW-8] Worst case: the eigenvector cos 2πi/n, averaged until a hundredth is left.
  constexpr std::size_t kRanks = 12;
  std::vector<double> x(kRanks);
  for (std::size_t i = 0; i < kRanks; ++i) x[i] = std::cos(2 * M_PI * static_cast<double>(i) / 12);
  int steps = 0;
  while (std::abs(x[0]) > 0.01) {
    std::vector<double> next(kRanks);
    for (std::size_t i = 0; i < kRanks; ++i) {
      next[i] = (x[i] + x[(i + 1) % kRanks] + x[(i + kRanks - 1) % kRanks]) / 3;
    }
    x = next;
    ++steps;
  }
  const double expected = steps_to_agree(mixing_eigenvalue(GossipGraph::ring, 12), 0.01);
  EXPECT_EQ(steps, static_cast<int>(std::ceil(expected)));
  EXPECT_EQ(steps_to_agree(0, 0.01), 1);
  // [LAW-9] n³ of ranks that agree at once, n⁷ on a ring.
  EXPECT_DOUBLE_EQ(transient_steps(0, 10), 1000);
  const double growth = transient_steps(mixing_eigenvalue(GossipGraph::ring, 512), 512) /
                        transient_steps(mixing_eigenvalue(GossipGraph::ring, 256), 256);
  EXPECT_NEAR(std::log2(growth), 7, 0.01);
}

}  // namespace
}  // namespace headway

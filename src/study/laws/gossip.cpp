#include "study/laws/gossip.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace headway {
namespace {

struct Sides {
  std::int64_t a = 1, b = 1;
};

Sides squarest(std::int64_t ranks) {
  auto a = static_cast<std::int64_t>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % a != 0) --a;
  return {a, ranks / a};
}

// How far a rank's neighbours are along a ring of ranks, each once; it is not its own.
std::vector<std::int64_t> hops_of(GossipGraph graph, std::int64_t ranks) {
  std::vector<std::int64_t> out;
  if (graph == GossipGraph::exponential) {
    for (std::int64_t hop = 1; hop < ranks; hop *= 2) out.push_back(hop);
  } else if (graph == GossipGraph::ring) {
    if (ranks > 1) out.push_back(1);
    if (ranks > 2) out.push_back(ranks - 1);
  }
  return out;
}

constexpr double kTurn = 2 * std::numbers::pi;

// Of the matrix in which each rank of a ring takes equal parts of itself and of those so many ranks
// on: its eigenvalues are the Fourier transform of one row.
double circulant_eigenvalue(const std::vector<std::int64_t>& hops, std::int64_t ranks) {
  double most = 0;
  for (std::int64_t k = 1; k < ranks; ++k) {
    std::complex<double> sum = 1;
    for (const std::int64_t hop : hops) {
      sum += std::polar(1.0,
                        kTurn * static_cast<double>(k * hop % ranks) / static_cast<double>(ranks));
    }
    most = std::max(most, std::abs(sum) / static_cast<double>(hops.size() + 1));
  }
  return most;
}

}  // namespace

std::int64_t gossip_neighbours(GossipGraph graph, std::int64_t ranks) {
  if (graph == GossipGraph::complete) return ranks - 1;
  if (graph == GossipGraph::torus) {
    const Sides sides = squarest(ranks);
    return std::min<std::int64_t>(sides.a - 1, 2) + std::min<std::int64_t>(sides.b - 1, 2);
  }
  return static_cast<std::int64_t>(hops_of(graph, ranks).size());
}

// [LAW-7] A rank takes the mean of itself and its neighbours with equal weights. On a ring, a torus
// or the static exponential graph (neighbours 1, 2, 4 ... ranks on) that is a circulant matrix,
// whose eigenvalues are the Fourier transform of one row: ring (1 + 2 cos 2πk/n)/3, torus (1 + 2
// cos 2πk/a
// + 2 cos 2πl/b)/5, exponential |1 + Σ e^{2πi k 2^j/n}|/(t + 1), t = ⌈log2 n⌉, whose largest is
// (t - 1)/(t + 1) for even n (Ying et al. 2021, arXiv 2110.13363).
double mixing_eigenvalue(GossipGraph graph, std::int64_t ranks) {
  if (graph == GossipGraph::complete || ranks < 2) return 0;
  if (graph == GossipGraph::torus) {
    double most = 0;
    const Sides sides = squarest(ranks);
    const double weight = 1.0 / static_cast<double>(1 + gossip_neighbours(graph, ranks));
    const auto along = [&](std::int64_t k, std::int64_t side) {
      const double angle = kTurn * static_cast<double>(k) / static_cast<double>(side);
      return side < 2 ? 0.0 : side == 2 ? std::cos(angle) : 2 * std::cos(angle);
    };
    for (std::int64_t k = 0; k < sides.a; ++k) {
      for (std::int64_t l = 0; l < sides.b; ++l) {
        if (k == 0 && l == 0) continue;
        most = std::max(most, std::abs(1 + along(k, sides.a) + along(l, sides.b)) * weight);
      }
    }
    return most;
  }
  return circulant_eigenvalue(hops_of(graph, ranks), ranks);
}

double mixing_eigenvalue(std::int64_t neighbours, std::int64_t ranks) {
  if (ranks < 2) return 0;
  std::vector<std::int64_t> hops;
  for (std::int64_t k = 1; k <= std::min(neighbours, ranks - 1); ++k) {
    const std::int64_t hop = (k + 1) / 2;
    hops.push_back(k % 2 == 1 ? hop : ranks - hop);
  }
  return circulant_eigenvalue(hops, ranks);
}

// [LAW-8] Disagreement shrinks by the eigenvalue a step: ln(share)/ln(eigenvalue).
double steps_to_agree(double eigenvalue, double share) {
  return eigenvalue <= 0 ? 1 : std::log(share) / std::log(eigenvalue);
}

// [LAW-9] n³/(1 - ρ)² steps of equal data at each rank, to the order of magnitude: n⁷ on a ring, n⁵
// on a torus, n³·log² n on an exponential graph (Ying et al. 2021, table 1).
double transient_steps(double eigenvalue, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  return n * n * n / ((1 - eigenvalue) * (1 - eigenvalue));
}

}  // namespace headway

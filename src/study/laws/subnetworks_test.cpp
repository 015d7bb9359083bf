#include "study/laws/subnetworks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headway {
namespace {

// Symmetric, positive definite functions of n variables, drawn from a recurrence.
std::vector<Quadratic> some_functions(std::size_t n, bool same) {
  std::vector<Quadratic> out;
  unsigned state = 12345;
  const auto next = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(state >> 8U) / (1U << 24U) - 0.5;
  };
  for (std::size_t f = 0; f < n; ++f) {
    Quadratic one{SquareMatrix(n), Vector(n)};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) one.matrix.at(i, j) = one.matrix.at(j, i) = next() / 4;
      one.matrix.at(i, i) += 2;
      one.offset[i] = next();
    }
    out.push_back(same && f > 0 ? out[0] : one);
  }
  return out;
}

// The mean over all permutations of what one step makes of x, worker i holding variable π(i), its
// sketch scale(i, j) e_j e_j'.
template <class Scale>
Vector mean_step(const std::vector<Quadratic>& f, const Vector& x, double rate,
                 const Scale& scale) {
  const std::size_t n = x.size();
  std::vector<std::size_t> held(n);
  std::iota(held.begin(), held.end(), 0U);
  Vector out(n);
  int permutations = 0;
  do {
    for (std::size_t j = 0; j < n; ++j) out[j] += x[j];
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = held[i];
      const double c = scale(i, j);
      const double gradient = f[i].matrix.at(j, j) * c * x[j] - f[i].offset[j];
      out[j] -= rate * c * gradient / static_cast<double>(n);
    }
    ++permutations;
  } while (std::next_permutation(held.begin(), held.end()));
  for (double& value : out) value /= permutations;
  return out;
}

TEST(Subnetworks, MeanSketchedMatrixIsThatOfAllPermutations) {
  // [LAW-10] The mean over all 24 permutations of (1/n) Σ C_i L_i C_i, C_i = n e_π(i) e_π(i)',
  // column by column.
  const auto f = some_functions(4, false);
  const SquareMatrix expected = mean_sketched_matrix(f);
  auto without_offsets = f;
  for (Quadratic& one : without_offsets) std::fill(one.offset.begin(), one.offset.end(), 0.0);
  for (std::size_t column = 0; column < 4; ++column) {
    Vector unit(4);
    unit[column] = 1;
    const Vector stepped =
        mean_step(without_offsets, unit, 1, [](std::size_t, std::size_t) { return 4.0; });
    for (std::size_t row = 0; row < 4; ++row) {
      EXPECT_NEAR(unit[row] - stepped[row], expected.at(row, column), 1e-12);
    }
  }
}

TEST(Subnetworks, MeanIterateIsThatOfAllPermutationsStepByStep) {
  // [LAW-12] to 1e-12 after 1, 5 and 40 steps.
  const auto f = some_functions(5, false);
  const Vector start = {1, -2, 3, 0.5, 4};
  constexpr double kRate = 0.3;
  Vector x = start;
  for (int step = 1; step <= 40; ++step) {
    x = mean_step(f, x, kRate, [&](std::size_t i, std::size_t j) {
      return std::sqrt(5.0 / f[i].matrix.at(j, j));
    });
    if (step != 1 && step != 5 && step != 40) continue;
    const Vector expected = mean_iterate(f, start, kRate, step);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(x[i], expected[i], 1e-12) << step;
  }
}

TEST(Subnetworks, LimitIsNotTheSolutionAndNoStepSizeRemovesTheBias) {
  const auto f = some_functions(4, false);
  const SubnetworkAnswer answer = answer_subnetworks(f);
  EXPECT_GT(answer.bias, 1e-3);
  for (const double rate : {0.9, 0.1, 0.01}) {
    const Vector end = mean_iterate(f, Vector(4, 7.0), rate, 1e5);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(end[i], answer.limit[i], 1e-12);
  }
  // By hand: f = l x²/2 - b x of one variable and one worker: the limit is b/√l, the solution b/l.
  Quadratic one{SquareMatrix(1), {3}};
  one.matrix.at(0, 0) = 4;
  const SubnetworkAnswer small = answer_subnetworks(std::vector{one});
  EXPECT_NEAR(small.solution[0], 0.75, 1e-12);
  EXPECT_NEAR(small.limit[0], 1.5, 1e-12);
  EXPECT_NEAR(small.bias, (4 * 1.5 * 1.5 / 2 - 3 * 1.5) - (4 * 0.75 * 0.75 / 2 - 3 * 0.75), 1e-12);
}

TEST(Subnetworks, WithoutOffsetsTheRateIsThatOfGradientDescent) {
  // Homogeneous, D^-1/2 L D^-1/2 with step 1/n: the mean over K steps of the squared gradients is
  // at most 2 λ_max (f0 - fK)/K. Each step leaves nothing of x: B = n whatever the permutation.
  auto f = some_functions(4, true);
  for (Quadratic& one : f) {
    const SquareMatrix raw = one.matrix;
    for (std::size_t i = 0; i < 4; ++i) {
      one.offset[i] = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        one.matrix.at(i, j) = raw.at(i, j) / std::sqrt(raw.at(i, i) * raw.at(j, j));
      }
    }
  }
  const double most = eigenvalues(f[0].matrix).back();
  Vector x = {1, 2, -1, 3};
  const double first = value_of(f[0], x);
  double squares = 0;
  constexpr int kSteps = 3;
  for (int step = 0; step < kSteps; ++step) {
    for (std::size_t i = 0; i < 4; ++i) {
      double gradient = 0;
      for (std::size_t j = 0; j < 4; ++j) gradient += f[0].matrix.at(i, j) * x[j];
      squares += gradient * gradient;
    }
    x = mean_step(f, x, 1.0 / 4, [](std::size_t, std::size_t) { return 4.0; });
  }
  EXPECT_LE(squares / kSteps, 2 * most * (first - value_of(f[0], x)) / kSteps + 1e-12);
  for (const double value : x) EXPECT_NEAR(value, 0, 1e-12);
}

TEST(Subnetworks, TwoVariablesDescendUntilTheirCouplingPassesTheHarmonicMean) {
  // [LAW-11] [[a, c], [c, b]]: W is indefinite from c > 2ab/(a + b) on, with L still positive
  // definite below √(ab).
  constexpr double a = 1, b = 9, border = 2 * a * b / (a + b);
  for (const double c : {border - 1e-6, border + 1e-6}) {
    Quadratic one{SquareMatrix(2), {1, 1}};
    one.matrix.at(0, 0) = a;
    one.matrix.at(1, 1) = b;
    one.matrix.at(0, 1) = one.matrix.at(1, 0) = c;
    EXPECT_GT(eigenvalues(one.matrix).front(), 0);
    EXPECT_EQ(answer_subnetworks(std::vector{one, one}).descends, c < border);
  }
  // W itself by hand: [[2a², c(a+b)], [c(a+b), 2b²]].
  Quadratic one{SquareMatrix(2), {0, 0}};
  one.matrix.values = {a, 2, 2, b};
  const SquareMatrix w = descent_matrix(one.matrix, mean_sketched_matrix(std::vector{one, one}));
  EXPECT_NEAR(w.at(0, 0), 2 * a * a, 1e-12);
  EXPECT_NEAR(w.at(0, 1), 2 * (a + b), 1e-12);
  EXPECT_NEAR(w.at(1, 1), 2 * b * b, 1e-12);
}

TEST(Subnetworks, SolverAndEigenvaluesAreExactOnKnownMatrices) {
  SquareMatrix known(3);
  known.values = {2, -1, 0, -1, 2, -1, 0, -1, 2};  // 2 - 2 cos(kπ/4)
  const Vector all = eigenvalues(known);
  for (int k = 1; k <= 3; ++k) {
    EXPECT_NEAR(all[static_cast<std::size_t>(k - 1)], 2 - 2 * std::cos(k * M_PI / 4), 1e-12);
  }
  const Vector x = solved(known, {1, 0, 1});
  for (const double value : x) EXPECT_NEAR(value, 1, 1e-12);
  SquareMatrix singular(2);
  singular.values = {1, 2, 2, 4};
  EXPECT_TRUE(solved(singular, {1, 1}).empty());
}

}  // namespace
}  // namespace headway

// Independent subnetworks on quadratics, exactly: every worker steps on its own part of the
// variables, f_i(x) = x'L_i x/2 - x'b_i, and the parts are put together again.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headway {

/// A square matrix, row by row.
struct SquareMatrix {
  std::size_t size = 0;
  std::vector<double> values;

  explicit SquareMatrix(std::size_t n = 0) : size(n), values(n * n) {}
  double& at(std::size_t row, std::size_t column) { return values[row * size + column]; }
  double at(std::size_t row, std::size_t column) const { return values[row * size + column]; }
};
using Vector = std::vector<double>;

/// f(x) = x'Lx/2 - x'b, L symmetric.
struct Quadratic {
  SquareMatrix matrix;
  Vector offset;
};
double value_of(const Quadratic& f, const Vector& x);
/// The mean of some functions.
Quadratic mean_of(std::span<const Quadratic> functions);

/// x of Ax = b by elimination with pivots; empty where A is singular to rounding.
Vector solved(SquareMatrix matrix, Vector right);
/// Eigenvalues of a symmetric matrix, ascending (Jacobi's rotations).
Vector eigenvalues(SquareMatrix matrix);

/// E[B] of as many workers as variables, each with one of them [LAW-10].
SquareMatrix mean_sketched_matrix(std::span<const Quadratic> functions);
/// W = (L E[B] + E[B] L)/2, that decides whether every direction descends [LAW-11].
SquareMatrix descent_matrix(const SquareMatrix& matrix, const SquareMatrix& sketched);

/// The mean iterate after `steps` of sketches that are scaled by √n·[L_i^-1/2]jj, step `rate`
/// [LAW-12], and what it comes to in the end, which is not where the mean function is least.
Vector mean_iterate(std::span<const Quadratic> functions, const Vector& start, double rate,
                    double steps);
Vector limit_of_means(std::span<const Quadratic> functions);

/// What independent subnetworks come to.
struct SubnetworkAnswer {
  Vector solution, limit;     // where the mean function is least, where the mean iterate ends
  double bias = 0;            // f(limit) - f(solution)
  Vector descent;             // eigenvalues of W, ascending
  double most_curvature = 0;  // largest eigenvalue of the preconditioned mean matrix
  bool descends = false;      // W is positive definite
};
/// Of at least one function, as many as variables, their diagonals above zero and the mean matrix
/// not singular.
SubnetworkAnswer answer_subnetworks(std::span<const Quadratic> functions);

}  // namespace headway

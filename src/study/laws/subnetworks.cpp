#include "study/laws/subnetworks.hpp"

#include <algorithm>
#include <cmath>

namespace headway {

double value_of(const Quadratic& f, const Vector& x) {
  double out = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double row = 0;
    for (std::size_t j = 0; j < x.size(); ++j) row += f.matrix.at(i, j) * x[j];
    out += x[i] * (row / 2 - f.offset[i]);
  }
  return out;
}

Quadratic mean_of(std::span<const Quadratic> functions) {
  Quadratic out{SquareMatrix(functions[0].matrix.size), Vector(functions[0].offset.size())};
  const auto n = static_cast<double>(functions.size());
  for (const Quadratic& f : functions) {
    for (std::size_t i = 0; i < f.matrix.values.size(); ++i) {
      out.matrix.values[i] += f.matrix.values[i] / n;
    }
    for (std::size_t i = 0; i < f.offset.size(); ++i) out.offset[i] += f.offset[i] / n;
  }
  return out;
}

Vector solved(SquareMatrix a, Vector b) {
  const std::size_t n = a.size;
  double largest = 0;
  for (const double value : a.values) largest = std::max(largest, std::abs(value));
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(a.at(i, k)) > std::abs(a.at(pivot, k))) pivot = i;
    }
    if (std::abs(a.at(pivot, k)) <= 1e-14 * largest) return {};
    for (std::size_t j = 0; j < n; ++j) std::swap(a.at(k, j), a.at(pivot, j));
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a.at(i, k) / a.at(k, k);
      for (std::size_t j = k; j < n; ++j) a.at(i, j) -= factor * a.at(k, j);
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a.at(k, j) * b[j];
    b[k] /= a.at(k, k);
  }
  return b;
}

Vector eigenvalues(SquareMatrix a) {
  const std::size_t n = a.size;
  constexpr int kSweeps = 60;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        all += a.at(i, j) * a.at(i, j);
        if (i != j) off += a.at(i, j) * a.at(i, j);
      }
    }
    if (off <= 1e-32 * all) break;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a.at(p, q) == 0) continue;
        const double theta = (a.at(q, q) - a.at(p, p)) / (2 * a.at(p, q));
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a.at(k, p), kq = a.at(k, q);
          a.at(k, p) = c * kp - s * kq;
          a.at(k, q) = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a.at(p, k), qk = a.at(q, k);
          a.at(p, k) = c * pk - s * qk;
          a.at(q, k) = s * pk + c * qk;
        }
      }
    }
  }
  Vector out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = a.at(i, i);
  std::sort(out.begin(), out.end());
  return out;
}

// [LAW-10] Shulgin & Richtarik 2023 (arXiv 2306.16484): worker i holds variable π(i) of a random
// permutation, its sketch C_i = n e_π(i) e_π(i)'. B = mean of C_i L_i C_i, so that
// E[B] = n · mean(Diag L_i).
SquareMatrix mean_sketched_matrix(std::span<const Quadratic> functions) {
  SquareMatrix out(functions[0].matrix.size);
  for (const Quadratic& f : functions) {
    for (std::size_t i = 0; i < out.size; ++i) out.at(i, i) += f.matrix.at(i, i);
  }
  return out;
}

// [LAW-11] A step descends in the mean in every direction only where W = (L E[B] + E[B] L)/2 is
// positive definite; of [[a, c], [c, b]] it is not from c > 2ab/(a + b) on.
SquareMatrix descent_matrix(const SquareMatrix& matrix, const SquareMatrix& sketched) {
  SquareMatrix out(matrix.size);
  for (std::size_t i = 0; i < out.size; ++i) {
    for (std::size_t j = 0; j < out.size; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < out.size; ++k) {
        sum += matrix.at(i, k) * sketched.at(k, j) + sketched.at(i, k) * matrix.at(k, j);
      }
      out.at(i, j) = sum / 2;
    }
  }
  return out;
}

Vector limit_of_means(std::span<const Quadratic> functions) {
  const auto n = static_cast<double>(functions.size());
  Vector out(functions[0].offset.size());
  for (const Quadratic& f : functions) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] += f.offset[i] / std::sqrt(f.matrix.at(i, i)) / n / std::sqrt(n);
    }
  }
  return out;
}

// [LAW-12] With C_i = √n [L_i^-1/2]jj e_j e_j', j = π(i), B is the identity whatever π, and
// E[x_k] = (1 - g)^k x_0 + (1 - (1 - g)^k)/√n · mean(D_i^-1/2 b_i), D_i = Diag L_i. Its limit is
// not L^-1 b: the bias that no step size removes.
Vector mean_iterate(std::span<const Quadratic> functions, const Vector& start, double rate,
                    double steps) {
  const double kept = std::pow(1 - rate, steps);
  Vector out = limit_of_means(functions);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = kept * start[i] + (1 - kept) * out[i];
  return out;
}

SubnetworkAnswer answer_subnetworks(std::span<const Quadratic> functions) {
  const Quadratic mean = mean_of(functions);
  SubnetworkAnswer out;
  out.solution = solved(mean.matrix, mean.offset);
  out.limit = limit_of_means(functions);
  out.bias = value_of(mean, out.limit) - value_of(mean, out.solution);
  out.descent = eigenvalues(descent_matrix(mean.matrix, mean_sketched_matrix(functions)));
  out.descends = out.descent.front() > 0;
  SquareMatrix scaled = mean.matrix;
  for (std::size_t i = 0; i < scaled.size; ++i) {
    for (std::size_t j = 0; j < scaled.size; ++j) {
      scaled.at(i, j) /= std::sqrt(mean.matrix.at(i, i) * mean.matrix.at(j, j));
    }
  }
  out.most_curvature = eigenvalues(scaled).back();
  return out;
}

}  // namespace headway

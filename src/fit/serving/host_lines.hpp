// Measured serving as lines in the constants of an engine's host, and the host by them.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// Those that are fitted, of all architectures and then of one. Of kernels that are not tuned one
/// over their shares: time is linear in that.
enum HostConstant : std::size_t {
  kStep,
  kSequence,
  kRequest,
  kPrompt,
  kToken,
  kLaunch,
  kLayer,
  kProducts,
  kAttention,
  kWeights
};
using HostConstants = std::array<double, 10>;  // s, none; of one architecture

inline double one_over(double share) {
  return share > 0 ? 1 / share : 0;
}
HostConstants host_constants(const Engine& engine, const Accelerator& accelerator);

/// The largest that a search tries, s, and what one of its steps is.
constexpr HostConstants kMostOfHost = {10e-3, 400e-6, 1, 20e-3, 5e-6, 200e-6, 400e-6, 100, 20, 20};
constexpr HostConstants kHostUnit = {1e-3, 50e-6, 50e-3, 1e-3, 0.5e-6, 20e-6, 20e-6, 10, 1, 1};
/// A kernel is launched in no less.
constexpr double kLeastLaunch = 5e-6;

/// A measured quantity, near which the prediction is linear in the constants.
struct HostLine {
  std::size_t of, quantity;
  double measured, at = 0;
  const Accelerator* accelerator = nullptr;
  HostConstants point, slopes{};
  double weight = 1;

  double predicted(const HostConstants& x) const {
    double out = at;
    for (std::size_t k = 0; k < x.size(); ++k) out += slopes[k] * (x[k] - point[k]);
    return std::max(out, 0.01 * at);
  }
};

/// The engine by least mean loss of log errors of those lines. What is of all architectures, and
/// all of those that are `settled`, stands where there are any.
Engine host_solved(const Engine& engine, const std::vector<const HostLine*>& lines,
                   const std::set<std::string>& settled);

}  // namespace headway

// Measured serving as lines in the constants of an engine's host, and the host by them.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// Those that are fitted: of all, of a release, of an architecture. Of kernels that are not tuned
/// one over their shares: time is linear in that.
enum HostConstant : std::size_t {
  kStep,
  kSequence,
  kRequest,
  kPrompt,
  kToken,
  kLaunch,
  kExperts,
  kFirst,
  kFull,
  kLayer,
  kProducts,
  kAttention,
  kWeights,
  kBlocks
};
using HostConstants = std::array<double, 14>;  // s, none; of one architecture

inline double one_over(double share) {
  return share > 0 ? 1 / share : 0;
}
/// That of a constant from kProducts on.
inline double& untuned_share(Untuned& of, std::size_t constant) {
  return constant == kProducts    ? of.products
         : constant == kAttention ? of.attention
         : constant == kWeights   ? of.weights
                                  : of.blocks;
}
HostConstants host_constants(const Engine& engine, const Accelerator& accelerator,
                             std::string_view start = kUsual);

/// The largest that a search tries, s, and what one of its steps is. The way in and out takes a
/// server, a tokenizer and queues between processes tens of milliseconds: what rows have beyond
/// that, whatever their clients and prompts, is of the first passes [INFER-37]. All are drawn to
/// zero by their number of steps: a sequence's step is short, since thousands of sequences hang on
/// what rows of tens tell.
constexpr HostConstants kMostOfHost = {10e-3, 400e-6, 50e-3,  20e-3, 5e-6, 200e-6, 5e-3,
                                       100,   200,    400e-6, 100,   20,   20,     20};
constexpr HostConstants kHostUnit = {1e-3, 5e-6, 50e-3, 1e-3, 0.5e-6, 20e-6, 0.5e-3,
                                     0.25, 10,   20e-6, 10,   1,      1,     1};
/// A kernel is launched in no less.
constexpr double kLeastLaunch = 5e-6;
/// Launches count where they take longer than the kernels: of them a prediction is known at these,
/// s, and lies between.
constexpr std::array<double, 6> kLaunchesTried = {5e-6, 10e-6, 20e-6, 40e-6, 80e-6, 200e-6};

/// A measured quantity, near which the prediction is linear in the constants but launches.
struct HostLine {
  std::size_t of, quantity;
  double measured, at = 0;
  const Accelerator* accelerator = nullptr;
  std::string start{kUsual};  // AskedServing::start
  HostConstants point, slopes{};
  double weight = 1;
  std::array<double, kLaunchesTried.size()> launched{};  // beyond `at`, by kLaunchesTried
  double experts = 0;  // layers with experts for each kernel: both are asked for by the host

  double predicted(const HostConstants& x) const {
    double out = at + by_launch(x[kLaunch] + experts * x[kExperts]);
    for (std::size_t k = 0; k < x.size(); ++k) out += slopes[k] * (x[k] - point[k]);
    return std::max(out, 0.01 * at);
  }

 private:
  double by_launch(double launch) const {
    const auto& tried = kLaunchesTried;
    std::size_t i = 1;
    while (i + 1 < tried.size() && tried[i] < launch) ++i;
    const double share = (launch - tried[i - 1]) / (tried[i] - tried[i - 1]);
    return launched[i - 1] + share * (launched[i] - launched[i - 1]);
  }
};

/// The engine by least mean loss of log errors of those lines. What is of all architectures, and
/// all of those that are `settled`, stands where there are any.
Engine host_solved(const Engine& engine, const std::vector<const HostLine*>& lines,
                   const std::set<std::string>& settled);

}  // namespace headway

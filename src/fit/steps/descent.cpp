#include "fit/steps/descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "fit/steps/objective.hpp"

namespace headway {
namespace {

constexpr double kFirstBox = 1;  // half a side of the box, in spreads
constexpr double kLargestBox = 4;
constexpr double kSmallestBox = 1e-2;
constexpr double kEnoughGain = 2e-4;  // relative gain of the loss that ends the search
constexpr double kLeastStep = 0.05, kMostStep = 0.25;  // of differences
constexpr double kNear = 0.5;  // a move that given slopes are good for, in spreads
constexpr int kMostSteps = 40;
constexpr int kMostReweighings = 30;
constexpr int kMostSweeps = 200;

// The linear errors that weigh anything, with the offsets of one part numbered from 0.
struct Box {
  Decides part;
  std::vector<double> start, least, most, variances;  // of each offset
  std::vector<double> errors, weights;
  std::vector<std::vector<Slope>> slopes;  // of each error, by the new numbers

  std::vector<double> errors_at(std::span<const double> x) const {
    std::vector<double> out = errors;
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (const auto& [k, slope] : slopes[i]) out[i] += slope * (x[k] - start[k]);
    }
    return out;
  }
};

Box box_about(const StepObjective& objective, Decides part, const LinearErrors& linear,
              std::span<const double> x) {
  Box out{part, {}, {}, {}, {}, {}, {}, {}};
  const std::vector<double> variances = objective.variances(), weights = objective.weights(part);
  std::map<std::size_t, std::size_t> number;
  for (const std::size_t offset : objective.offsets(part)) {
    number.emplace(offset, number.size());
    out.start.push_back(x[offset]);
    out.variances.push_back(variances[offset]);
  }
  for (std::size_t i = 0; i < linear.errors.size(); ++i) {
    if (weights[i] == 0) continue;
    out.errors.push_back(linear.errors[i]);
    out.weights.push_back(weights[i]);
    std::vector<Slope>& row = out.slopes.emplace_back(linear.slopes[i]);
    for (Slope& slope : row) slope.offset = number.at(slope.offset);
  }
  return out;
}

void set_radius(Box& box, double radius) {
  box.least = box.most = box.start;
  for (double& least : box.least) least = std::max(-kFarthest, least - radius);
  for (double& most : box.most) most = std::min(kFarthest, most + radius);
}

double loss_at(const Box& box, std::span<const double> x) {
  const std::vector<double> errors = box.errors_at(x);
  double sum = 0;
  for (std::size_t i = 0; i < errors.size(); ++i)
    sum += box.weights[i] * robust(box.part, errors[i]);
  for (std::size_t k = 0; k < x.size(); ++k) sum += 0.5 * x[k] * x[k] / box.variances[k];
  return sum;
}

// Where half the sum of `curvature`-weighted squares is least in the box, one offset after another
// until none moves: convex.
void settle(const Box& box, const std::vector<double>& curvature, std::span<const double> gradient,
            std::vector<double>& x) {
  const std::size_t count = x.size();
  std::vector<double> slope(gradient.begin(), gradient.end());
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double farthest = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double* const row = &curvature[k * count];
      const double to = std::clamp(x[k] - slope[k] / row[k], box.least[k], box.most[k]);
      const double moved = to - x[k];
      if (moved == 0) continue;
      x[k] = to;
      for (std::size_t j = 0; j < count; ++j) slope[j] += moved * row[j];
      farthest = std::max(farthest, std::abs(moved));
    }
    if (farthest < 1e-5) return;
  }
}

// Where the loss of the linear errors is least in the box: each error weighed anew by the slope of
// its loss at what it comes to.
std::vector<double> least_in(const Box& box) {
  const std::size_t count = box.start.size();
  std::vector<double> x = box.start;
  double loss = loss_at(box, x);
  for (int round = 0; round < kMostReweighings; ++round) {
    const std::vector<double> errors = box.errors_at(x);
    std::vector<double> curvature(count * count, 0), gradient(count);
    for (std::size_t k = 0; k < count; ++k) {  // the prior's
      curvature[k * count + k] = 1 / box.variances[k];
      gradient[k] = x[k] / box.variances[k];
    }
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const double weight = box.weights[i] * robust_curvature(box.part, errors[i]);
      for (const auto& [k, slope] : box.slopes[i]) {
        gradient[k] += weight * slope * errors[i];
        for (const auto& [j, other] : box.slopes[i]) {
          curvature[k * count + j] += weight * slope * other;
        }
      }
    }
    settle(box, curvature, gradient, x);
    const double now = loss_at(box, x);
    if (loss - now < 0.1 * kEnoughGain * loss) break;
    loss = now;
  }
  return x;
}

// From `x` on to where the loss of a part is least. Where slopes are given, these are tried first,
// and last where they tell what the loss does and no offset goes far.
std::vector<double> descend(const StepObjective& objective, Decides part, std::vector<double> x,
                            const LinearErrors* given) {
  const std::vector<std::size_t> offsets = objective.offsets(part);
  double loss = objective.loss(part, x);
  double radius = kFirstBox;
  for (int step = 0; step < kMostSteps && radius >= kSmallestBox; ++step) {
    const bool first = step == 0 && given != nullptr;
    const LinearErrors made =
        first ? LinearErrors{}
              : objective.linearised(part, x, std::clamp(radius / 2, kLeastStep, kMostStep));
    Box box = box_about(objective, part, given != nullptr && step == 0 ? *given : made, x);
    while (radius >= kSmallestBox) {
      set_radius(box, radius);
      const std::vector<double> to = least_in(box);
      const double promised = loss_at(box, box.start) - loss_at(box, to);
      if (promised < kEnoughGain * loss) return x;
      std::vector<double> candidate = x;
      double farthest = 0;
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        candidate[offsets[k]] = to[k];
        farthest = std::max(farthest, std::abs(to[k] - box.start[k]));
      }
      const double there = objective.loss(part, candidate);
      const double kept = (loss - there) / promised;
      if (kept > 0.75) radius = std::min(kLargestBox, 2 * radius);
      if (kept < 0.25) radius /= 3;
      if (kept <= 0.05) continue;
      x = std::move(candidate);
      loss = there;
      if (first && kept > 0.75 && farthest < kNear) return x;
      break;
    }
  }
  return x;
}

// Memory first: whether it is at its limit bears on the time, and no time bears on memory.
constexpr std::array<Decides, 2> kInOrder = {Decides::memory, Decides::step_time};

}  // namespace

QuickFits::QuickFits(const std::vector<MeasuredRun>& runs, const StepConstants& estimates,
                     int threads)
    : objective_(runs, estimates, threads), at_(objective_.size(), 0) {
  for (const Decides part : kInOrder) at_ = descend(objective_, part, std::move(at_), nullptr);
  for (const Decides part : kInOrder) {
    slopes_[static_cast<std::size_t>(part)] = objective_.linearised(part, at_, kLeastStep);
  }
}

StepConstants QuickFits::without(const std::vector<bool>& left_out) const {
  const StepObjective others = objective_.without(left_out, /*threads=*/1);
  std::vector<double> x = at_;
  for (const Decides part : kInOrder) {
    x = descend(others, part, std::move(x), &slopes_[static_cast<std::size_t>(part)]);
  }
  return others.constants(x);
}

}  // namespace headway

// What a fit of the constants of whole steps minimises. Internal to src/fit.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fit/steps/fit.hpp"

namespace headway {

/// The offsets of one entry of a section: a stretch of the vector that the optimiser moves, one for
/// each constant, with the runs that the constants have a part in. The entry "default" shifts all
/// of its section; the others deviate from it.
struct OffsetStretch {
  StepSection section;
  std::string name;
  std::size_t first = 0;
  std::vector<Decides> by;  // of each constant
  std::vector<std::size_t> runs;
};

/// How far an offset goes at most, in spreads.
constexpr double kFarthest = 6;

/// Whether it is the entry "default" of a section with others, which shifts all of them.
bool is_shift(const OffsetStretch& stretch);
/// Of each of its offsets, a priori.
double variance_of(const OffsetStretch& stretch);

/// By how much an error grows with an offset.
struct Slope {
  std::size_t offset;
  double slope;
};

/// The errors of the runs, so many of each (StepObjective::kErrors), and how they change about a
/// point: logarithms of predicted over measured, of memory on the wrong side of its limit.
struct LinearErrors {
  std::vector<double> errors;
  std::vector<std::vector<Slope>> slopes;  // of each error
};

/// The loss of an error: half its square in knees well below the knee. Of step times, by Student's
/// distribution of two degrees of freedom, the logarithm well above it, for what is far off follows
/// something that the model does not know, which no constant should make up for; of memory the
/// size, where what is far on the wrong side of the capacity decides whether a run fits.
constexpr double kKnee = 0.05;
inline double robust(Decides part, double error) {
  const double square = error * error / (kKnee * kKnee);
  return part == Decides::memory ? std::sqrt(1 + square) - 1 : std::log1p(0.5 * square);
}
/// Its slope over the error: the curvature of the parabola through 0 that touches it there.
inline double robust_curvature(Decides part, double error) {
  const double square = error * error / (kKnee * kKnee);
  const double flatter = part == Decides::memory ? std::sqrt(1 + square) : 1 + 0.5 * square;
  return 1 / (kKnee * kKnee * flatter);
}

class StepObjective {
 public:
  StepObjective(const std::vector<MeasuredRun>& runs, StepConstants estimates, int threads);

  std::size_t size() const { return size_; }
  const std::vector<OffsetStretch>& stretches() const { return stretches_; }

  /// The constants at the offsets `x`, in spreads from the estimates.
  StepConstants constants(std::span<const double> x) const;

  /// The loss of step times, or of memory, and, unless null, its gradient along `offsets`; 0 along
  /// others. The offsets have to be of constants that `part` decides.
  double loss(Decides part, std::span<const double> x, double* gradient = nullptr,
              std::span<const std::size_t> offsets = {}) const;

  /// The share of that loss that the offsets' priors make.
  double prior(std::span<const double> x) const;

  /// The offsets of the constants that `part` decides.
  std::vector<std::size_t> offsets(Decides part) const;

  /// The errors that make the loss, about `x`, by differences over `step` to both sides. Those that
  /// weigh nothing are left at 0.
  LinearErrors linearised(Decides part, std::span<const double> x, double step) const;
  /// What each of them weighs, and the variance of each offset a priori.
  std::vector<double> weights(Decides part) const;
  std::vector<double> variances() const;

  /// The same without some of the runs: they weigh nothing, and the others of their source more.
  StepObjective without(const std::vector<bool>& left_out, int threads) const;

  static constexpr std::size_t kErrors = 2;

  /// How the data's share of that loss curves along each offset at `x`; 0 where an offset changes
  /// nothing or others decide it.
  std::vector<double> curvatures(Decides part, std::span<const double> x) const;

  /// Predicted over measured step time, less 1, of each run; nothing where it has none.
  std::vector<std::optional<double>> errors(const StepConstants& constants) const;

 private:
  // Of one run: of its step time; of memory at its limit and of its reported peak.
  using Errors = std::array<double, kErrors>;
  struct Weights {
    Errors step_time, memory;
    const Errors& of(Decides part) const { return part == Decides::memory ? memory : step_time; }
    bool any(Decides part) const { return of(part)[0] > 0 || of(part)[1] > 0; }
  };
  struct Around {
    double below, here, above, step;
    double slope() const { return (above - below) / (2 * step); }
    double curvature() const { return (above - 2 * here + below) / (step * step); }
  };

  void find_machines();
  void weigh(const std::vector<bool>& left_out);
  void lay_out();
  std::vector<Calibration> calibrate(const StepConstants& constants) const;
  Around around(std::span<const double> x, std::size_t offset, const OffsetStretch& stretch,
                double step) const;
  std::vector<const OffsetStretch*> stretches_by_offset() const;
  void add_shifts(double* values) const;
  Errors errors_of(Decides part, std::size_t run, const Calibration& calibration) const;
  double loss_of(Decides part, std::size_t run, const Calibration& calibration) const;

  const std::vector<MeasuredRun>& runs_;
  StepConstants estimates_;  // with an entry for each class met
  int threads_;
  std::vector<std::shared_ptr<const Machine>> machines_;
  std::vector<std::size_t> machine_of_;  // by run
  std::vector<Weights> weights_;         // by run
  std::vector<OffsetStretch> stretches_;
  std::size_t size_ = 0;
};

}  // namespace headway

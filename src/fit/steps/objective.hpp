// What a fit of the constants of whole steps minimises. Internal to src/fit.
#pragma once

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

  /// How the data's share of that loss curves along each offset at `x`; 0 where an offset changes
  /// nothing or others decide it.
  std::vector<double> curvatures(Decides part, std::span<const double> x) const;

  /// Predicted over measured step time, less 1, of each run; nothing where it has none.
  std::vector<std::optional<double>> errors(const StepConstants& constants) const;

 private:
  struct Weights {
    double time, memory, verdict;
  };
  struct Around {
    double below, here, above, step;
    double slope() const { return (above - below) / (2 * step); }
    double curvature() const { return (above - 2 * here + below) / (step * step); }
  };

  void find_machines();
  void weigh();
  void lay_out();
  std::vector<Calibration> calibrate(const StepConstants& constants) const;
  Around around(std::span<const double> x, std::size_t offset, const OffsetStretch& stretch,
                double step) const;
  std::vector<const OffsetStretch*> stretches_by_offset() const;
  void add_shifts(double* values) const;
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

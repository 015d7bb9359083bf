// How many steps a batch takes to a target: fitted to points of one's own or to published ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/csv.hpp"
#include "base/document/document.hpp"
#include "base/result.hpp"

namespace headway {

/// How far training went to the target with one batch.
struct StepsPoint {
  double batch = 0;     // samples a step
  double progress = 0;  // in the law's unit: samples, epochs, tokens
};

/// Points that one law is fitted to.
struct StepsSeries {
  std::string name;  // of a benchmark, with the round whose points these are
  std::string unit;  // of progress: "samples", "epochs", "tokens (sequences of 2048)"
  std::string source;
  std::vector<StepsPoint> points;
};

/// Progress E(B) = E0·(1 + B/C), steps K(B) = E0/B + E0/C [LAW-13].
struct StepsLaw {
  std::string name, unit, source;
  double progress = 0;  // E0, with a batch of next to nothing
  double critical = 0;  // C, samples; infinite where batches cost nothing
  double rms = 0;       // of the relative errors of the points
  std::size_t points = 0;
  double least_batch = 0, most_batch = 0;  // of the points
  // The largest batch predicted by a law that did not see it; of three batches and more.
  std::optional<double> kept_aside_error;

  double progress_at(double batch) const;
  /// Steps to the target; of progress in epochs, over the samples of one.
  double steps_at(double batch) const { return progress_at(batch) / batch; }
};

/// The least squares of relative errors, neither term below zero [LAW-14]; a problem of fewer than
/// two batches.
Result<StepsLaw> fit_steps_law(const StepsSeries& series);

/// Of Shallue et al. 2018 (arXiv 1811.03600) [LAW-15].
enum class BatchRegime : std::uint8_t { perfect, diminishing, flat };
BatchRegime regime_of(double batch, double critical);
std::string_view words_of(BatchRegime regime);

/// What sparsity multiplies the terms of K = c1/B + c2 by; the user's, 1 where nothing is known
/// [LAW-16].
struct SparsityFactors {
  double samples = 1, steps = 1;
};
StepsLaw with_sparsity(const StepsLaw& law, const SparsityFactors& factors);

/// The series of a table: `batch` (or global_batch), and one of steps, samples, progress_median,
/// epochs_median, progress_mean, epochs_mean; what else is known: name (or benchmark), unit, rounds
/// (the last whose points make a law). Every problem of it at once.
Result<std::vector<StepsSeries>> read_steps_points(const Csv& table);
/// data/measurements/steps_to_target.csv.
Result<std::vector<StepsSeries>> public_steps_points();

/// As a file that steps_law_from() reads.
std::string to_toml(const std::vector<StepsLaw>& laws, const std::string& date);
Result<std::vector<StepsLaw>> steps_laws_of(const Document& document);

}  // namespace headway

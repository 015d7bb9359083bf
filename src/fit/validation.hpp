// What predictions are worth: every row of a corpus predicted and held against its measurement.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "fit/corpus.hpp"
#include "fit/statistics.hpp"

namespace headway {

enum class ValidateBy : std::uint8_t { source, accelerator, framework, scale };
constexpr std::array<std::string_view, 4> kValidateByNames = {"source", "accelerator", "framework",
                                                              "scale"};

/// One row of a corpus, measured and predicted. What is not known is absent.
struct ValidationRow {
  std::string id, source_key, accelerator, framework, outcome;
  std::int64_t n_accel = 0;                                       // 0: not stated
  std::optional<double> measured_step_time, predicted_step_time;  // s
  /// GiB an accelerator. Reported peaks are what the framework's allocator holds, which does not
  /// see the driver's context: the prediction here is without it.
  std::optional<double> measured_memory, predicted_memory;
  std::optional<bool> predicted_fits;
  std::optional<double> measured_mfu, predicted_mfu;  // percent, by the source's convention
  std::vector<std::string> assumed;                   // cells filled by policy, "cell=value"
  std::string skipped_reason, skipped_detail;         // empty where predicted
  std::string contest;  // rows with the same are layouts of the same training on the same machine

  bool predicted() const { return skipped_reason.empty(); }
  /// Predicted over measured step time, less 1.
  std::optional<double> error() const;
};

/// Of the groups of at least kSmallestContest layouts of the same training on the same machine.
struct RankingSummary {
  std::size_t contests = 0;
  double spearman = 0;  // median over the contests
  double regret = 0;  // median: measured time of the predicted best over the measured best, less 1
};
constexpr std::size_t kSmallestContest = 5;

struct ValidationGroup {
  std::string name;
  std::size_t rows = 0, predicted = 0, filled = 0;  // filled: predicted with cells filled by policy
  std::map<std::string, std::size_t> skipped;       // by reason; with `predicted` they make `rows`
  ErrorSummary step_time, memory;
  std::optional<double> mfu_difference;  // median size, in points
  Confusion fits;
  RankingSummary ranking;
};

struct ValidationReport {
  ValidateBy by = ValidateBy::source;
  std::vector<ValidationGroup> groups;  // by name; scale: by size
  ValidationGroup all;
  std::vector<ValidationRow> rows;  // in the order of the files
};

/// Predicts every row with the embedded calibration.
std::vector<ValidationRow> predict_rows(const Corpus& corpus);

ValidationReport summarise(std::vector<ValidationRow> rows, ValidateBy by);

/// Reads, predicts and summarises one corpus.
Result<ValidationReport> validate(std::string_view csv, std::string file, ValidateBy by);

/// A table for a terminal; its columns are explained in docs/validation.md.
std::string to_text(const ValidationReport& report);

/// The rows as CSV with a header; columns as in docs/validation.md.
std::string to_csv(std::span<const ValidationRow> rows);

}  // namespace headway

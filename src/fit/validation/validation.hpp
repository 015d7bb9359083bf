// What predictions are worth: every row of a corpus predicted and held against its measurement.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "fit/corpus/corpus.hpp"
#include "fit/intervals/fit.hpp"
#include "fit/statistics.hpp"
#include "fit/validation/ranking.hpp"
#include "platform/parallel.hpp"

namespace headway {

enum class ValidateBy : std::uint8_t { source, accelerator, framework, scale, parallelism };
constexpr std::array<std::string_view, 5> kValidateByNames = {"source", "accelerator", "framework",
                                                              "scale", "parallelism"};

/// One row of a corpus, measured and predicted. What is not known is absent.
struct ValidationRow {
  std::string id, source_key, source, accelerator, framework, model_name, outcome;
  std::string architecture;  // as charts call it; empty: among the others, or not predicted
  std::int64_t n_accel = 0;  // 0: not stated
  std::optional<double> measured_step_time, predicted_step_time;  // s
  std::optional<double> interval_low, interval_high;              // s, of the prediction
  /// GiB an accelerator. Reported peaks are what the framework's allocator holds, which does not
  /// see the driver's context: the prediction here is without it.
  std::optional<double> measured_memory, predicted_memory;
  std::optional<double> predicted_load;  // all that is predicted over the memory there is
  std::optional<bool> predicted_fits;
  bool contradicted = false;  // said to be out of memory where a larger run ran
  std::optional<double> measured_mfu, predicted_mfu;  // percent, by the source's convention
  std::vector<std::string> assumed;                   // cells filled by policy, "cell=value"
  std::string skipped_reason, skipped_detail;         // empty where predicted
  std::string contest;  // rows with the same are layouts of the same training on the same machine
  /// The dimensions that split the model, "tp + pp"; tp beyond a node is "tp across nodes", ZeRO-3
  /// "fsdp", no such dimension "data only". Empty where not predicted.
  std::string parallelism;

  bool by_own_runs = false;  // own runs say something of its setup

  bool predicted() const { return skipped_reason.empty(); }
  /// Predicted over measured step time, less 1.
  std::optional<double> error() const;
  /// Predicted over reported memory, less 1, of a run that ran.
  std::optional<double> memory_error() const;
};

struct ValidationGroup {
  std::string name;
  std::size_t rows = 0, predicted = 0, filled = 0;  // filled: predicted with cells filled by policy
  std::map<std::string, std::size_t> skipped;       // by reason; with `predicted` they make `rows`
  ErrorSummary step_time, memory;
  std::optional<double> mfu_difference;  // median size, in points
  Confusion fits;
  std::size_t contradicted = 0;  // of those predicted, not in `fits`
  RankingSummary ranking;
  std::size_t with_interval = 0, in_interval = 0;  // rows with a time and an interval; those inside
  std::optional<double> width, width_p90;          // high over low: median, 90th percentile
  std::optional<double> interval_score;            // mean [INTERVAL-2]
};

struct ValidationReport {
  ValidateBy by = ValidateBy::source;
  std::vector<ValidationGroup> groups;  // by name; scale: by size
  ValidationGroup all;
  std::vector<ValidationRow> rows;            // in the order of the files
  std::optional<IntervalFit> intervals = {};  // with the errors of fits that left rows out
};

/// Predicts every row with the embedded calibration, and with an interval where `intervals` is
/// given, and by what own runs say, on up to `threads` threads (0: all cores);
/// nothing where `progress` stopped it. The result does not depend on the threads.
std::optional<std::vector<ValidationRow>> predict_rows(const std::vector<CorpusRow>& rows,
                                                       int threads = 0,
                                                       const Progress& progress = {},
                                                       const IntervalModel* intervals = nullptr,
                                                       std::shared_ptr<const OwnRuns> own = {});

/// The rows of each group under its name: by name, scale by size, parallelism by the number of its
/// dimensions.
using RowGroup = std::pair<std::string, std::vector<const ValidationRow*>>;
std::vector<RowGroup> rows_by(std::span<const ValidationRow> rows, ValidateBy by);

ValidationGroup summarise(std::string name, const std::vector<const ValidationRow*>& rows);
std::vector<ValidationGroup> groups_of(std::span<const ValidationRow> rows, ValidateBy by);
ValidationReport summarise(std::vector<ValidationRow> rows, ValidateBy by);

/// Reads, predicts and summarises one corpus.
Result<ValidationReport> validate(std::string_view csv, std::string file, ValidateBy by);

}  // namespace headway

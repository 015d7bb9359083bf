// Forecasts as values and as columns, for programs that ask for many: no text is made of them
// before it is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/commands.hpp"
#include "forecast/predict/predict.hpp"
#include "run/run.hpp"

namespace headway {

/// A run and the numbers of its forecast: what `predict` of these fields answers.
struct PredictedRun {
  RequestedRun run;
  Forecast forecast;  // without notes, which json_of() makes
};
Result<std::unique_ptr<PredictedRun>> predicted_run(const RunRequest& fields,
                                                    KeptCalibration& kept);
/// The answer as a document, that of `headway predict --json` to the byte.
std::string json_of(const PredictedRun& predicted);

/// A number of a forecast that has a column, by its place in the document of `predict`: a name, or
/// a member of an object after a dot ("parts_s.compute"). NaN: none.
struct ForecastColumn {
  std::string name;
  std::function<double(const Forecast& forecast)> of;
};
std::span<const ForecastColumn> forecast_columns();

/// A field that takes another value in each row: `of_row` are places among the `texts`.
struct SweptField {
  std::string name;
  std::vector<std::string> texts;
  std::vector<std::uint32_t> of_row;
};

/// Columns of as many rows as the swept fields have.
struct ForecastTable {
  std::vector<std::vector<double>> columns = {};  // of forecast_columns(); NaN: no forecast
  std::vector<std::uint32_t> problem = {};        // of each row, a place among `problems`; 0: none
  std::vector<std::string> problems = {};         // the first is empty
  bool stopped = false;  // by `progress`: what the table holds is of no use
};

/// The fields of a run in a JSON object of one's own: members by name, models and clusters by name,
/// as files or described in place.
Result<RunRequest> run_fields_of(std::string_view body);

/// Predicts each row: the base's fields, with those of the row in their place. A row that is no
/// legal run says why; a name that is of no field is a problem of all. All swept fields have the
/// same number of rows.
Result<ForecastTable> forecast_rows(const RunRequest& base, std::span<const SweptField> swept,
                                    int threads, const Progress& progress);

}  // namespace headway

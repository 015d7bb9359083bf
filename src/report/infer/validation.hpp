// headway validate of measured serving.
#pragma once

#include <span>
#include <string>

#include "fit/serving/serving.hpp"

namespace headway {

/// A line a source and quantity, the last ones of all sources, and the reasons of rows that are not
/// predicted.
std::string serving_validation_text(const ServedReport& report);
/// {kind, groups: [{source_key, quantity, rows, median, mean, p90, bias}], memory, skipped}; with
/// `rows`, also each row: the columns of --rows, empty cells null.
std::string serving_validation_json(const ServedReport& report, bool rows);
/// id, source_key, outcome, measured_ and predicted_ of each quantity, predicted_fits, error, ...
std::string serving_csv(std::span<const ServedRow> rows);

}  // namespace headway

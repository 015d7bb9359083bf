// headway validate of measured serving.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/generated.hpp"
#include "fit/serving/aims/aims.hpp"
#include "fit/serving/serving.hpp"
#include "fit/serving/tables.hpp"

namespace headway {

/// A line a group and quantity, the last ones of all: its head, its units, its lines.
UnitTable serving_groups(const ServedReport& report);
/// The same, what is aimed at, and the reasons of rows that are not predicted.
std::string serving_validation_text(const ServedReport& report, std::span<const JudgedAim> aims,
                                    const ServedLeftOut& left_out);
/// The tables of docs/models/infer.md: errors by source, by engine and by accelerator; repeats.
GeneratedBlocks serving_blocks(const ServedReport& report);
/// {kind, groups: [{source_key, quantity, rows, median, mean, p90, bias,
/// in_interval, width}], by_capacity: [{share, quantity, ...}], repeats: [{alike, quantity,
/// configurations, rows, median, p90}], aims, held, memory, skipped}; with `rows`, also each row:
/// the columns of --rows, empty cells null.
std::string serving_validation_json(const ServedReport& report, std::span<const JudgedAim> aims,
                                    const ServedLeftOut& left_out, bool rows);
/// id, source_key, outcome, measured_ and predicted_ of each quantity, predicted_fits, error, ...
std::string serving_csv(std::span<const ServedRow> rows);

}  // namespace headway

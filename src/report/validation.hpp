// validate: predictions beside measurements.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fit/benchmarks/benchmarks.hpp"
#include "fit/validation/validation.hpp"

namespace headway {

/// {by, groups: [...], all, aims: [...]}; the fields of a group and of an aim are listed in
/// docs/validation.md. What a group has no rows for is null. With `rows`, also each row: the
/// columns of --rows, empty cells null.
std::string validation_json(const ValidationReport& report, bool rows = false);

/// Lines of a table, the last one `all`; its columns are explained in docs/validation.md.
std::string groups_text(ValidateBy by, const std::vector<ValidationGroup>& groups,
                        const ValidationGroup& all);
std::string verdict_text(const ValidationGroup& group);
std::string skipped_text(const ValidationGroup& all);

/// All three, for a terminal.
std::string to_text(const ValidationReport& report);

/// The rows as CSV with a header; columns as in docs/validation.md.
std::string to_csv(std::span<const ValidationRow> rows);

/// The same of benchmarks of kernels or calls: {kind, groups: [{accelerator, format, op, size,
/// rows, predicted, assumed, time_error}], all, skipped: {reason: rows}}; of collectives `system`
/// in place of `accelerator`. With `rows`, also each row: the columns of --rows, empty cells null.
std::string benchmarks_json(const BenchmarkReport& report, bool rows = false);
/// A line a group, the last one `all`, and the reasons of rows that are not predicted.
std::string to_text(const BenchmarkReport& report);
std::string to_csv(CorpusKind kind, std::span<const BenchmarkRow> rows);

}  // namespace headway

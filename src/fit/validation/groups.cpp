#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "fit/intervals/spread.hpp"
#include "fit/validation/validation.hpp"

namespace headway {
namespace {

// The name of a row's group, after a number that sorts it.
std::pair<int, std::string> key_of(const ValidationRow& row, ValidateBy by) {
  const auto named = [](const std::string& name) {
    return std::pair(name.empty() ? -1 : 0, name.empty() ? "not stated" : name);
  };
  switch (by) {
    case ValidateBy::source:
      return named(row.source_key);
    case ValidateBy::accelerator:
      return named(row.accelerator);
    case ValidateBy::framework:
      return {0, row.framework};
    case ValidateBy::parallelism:
      if (row.parallelism.empty()) return {-1, "not predicted"};
      if (row.parallelism == "data only") return {0, row.parallelism};
      return {1 + static_cast<int>(std::count(row.parallelism.begin(), row.parallelism.end(), '+')),
              row.parallelism};
    case ValidateBy::scale:
      break;
  }
  return scale_of(row.n_accel);
}

}  // namespace

std::optional<double> ValidationRow::error() const {
  if (outcome != "ok" || !measured_step_time || !predicted_step_time) return std::nullopt;
  return *predicted_step_time / *measured_step_time - 1;
}

std::optional<double> ValidationRow::memory_error() const {
  if (outcome != "ok" || !measured_memory || !predicted_memory) return std::nullopt;
  return *predicted_memory / *measured_memory - 1;
}

std::vector<RowGroup> rows_by(std::span<const ValidationRow> rows, ValidateBy by) {
  std::map<std::pair<int, std::string>, std::vector<const ValidationRow*>> gathered;
  for (const ValidationRow& row : rows) gathered[key_of(row, by)].push_back(&row);
  std::vector<RowGroup> out;
  for (auto& [key, members] : gathered) out.emplace_back(key.second, std::move(members));
  return out;
}

ValidationGroup summarise(std::string name, const std::vector<const ValidationRow*>& rows) {
  ValidationGroup out;
  out.name = std::move(name);
  out.rows = rows.size();
  std::vector<double> time_errors, memory_errors, mfu_differences, widths, scores;
  for (const ValidationRow* row : rows) {
    if (!row->predicted()) {
      ++out.skipped[row->skipped_reason];
      continue;
    }
    ++out.predicted;
    if (!row->assumed.empty()) ++out.filled;
    if (const auto error = row->error()) {
      time_errors.push_back(*error);
      if (row->interval_low && row->interval_high) {
        ++out.with_interval;
        const double time = *row->measured_step_time;
        if (*row->interval_low <= time && time <= *row->interval_high) ++out.in_interval;
        widths.push_back(*row->interval_high / *row->interval_low);
        scores.push_back(interval_score(std::log(*row->interval_low), std::log(*row->interval_high),
                                        std::log(time)));
      }
    }
    if (const auto error = row->memory_error()) memory_errors.push_back(*error);
    const bool ran = row->outcome == "ok";
    if (ran && row->measured_mfu && row->predicted_mfu) {
      mfu_differences.push_back(std::abs(*row->predicted_mfu - *row->measured_mfu));
    }
    if (row->contradicted) {
      ++out.contradicted;
    } else if (row->predicted_fits) {
      int& cell = *row->predicted_fits ? (ran ? out.fits.fits_fits : out.fits.fits_not)
                                       : (ran ? out.fits.not_fits : out.fits.not_not);
      ++cell;
    }
  }
  out.width = quantile(widths, 0.5);
  out.width_p90 = quantile(widths, 0.9);
  out.interval_score = mean(scores);
  out.step_time = summarise(time_errors);
  out.memory = summarise(memory_errors);
  out.mfu_difference = quantile(mfu_differences, 0.5);
  out.ranking = summarise(contests_of(rows));
  return out;
}

std::vector<ValidationGroup> groups_of(std::span<const ValidationRow> rows, ValidateBy by) {
  std::vector<ValidationGroup> out;
  for (const auto& [name, members] : rows_by(rows, by)) out.push_back(summarise(name, members));
  return out;
}

ValidationReport summarise(std::vector<ValidationRow> rows, ValidateBy by) {
  std::vector<const ValidationRow*> all;
  for (const ValidationRow& row : rows) all.push_back(&row);
  ValidationReport out{by, groups_of(rows, by), summarise("all", all), {}};
  out.rows = std::move(rows);
  return out;
}

}  // namespace headway

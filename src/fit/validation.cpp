#include "fit/validation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fit/corpus_forecast.hpp"

namespace headway {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

std::string contest_of(const CorpusRow& row, const CorpusRun& run) {
  std::string out;
  for (const std::string& part :
       {row.source_key, row.model_name, row.accelerator, std::to_string(run.model.layers()),
        std::to_string(*row.n_accel), std::to_string(run.job.global_batch),
        std::to_string(run.job.sequence)}) {
    out += part + "|";
  }
  return out;
}

ValidationRow predict_row(const CorpusRow& row, Shelf& shelf) {
  ValidationRow out;
  out.id = row.id;
  out.source_key = row.source_key;
  out.accelerator = row.accelerator;
  out.framework = kFrameworkNames[static_cast<std::size_t>(framework_of(row))];
  out.outcome = row.outcome;
  out.n_accel = row.n_accel.value_or(0);
  out.measured_step_time = row.step_time_s;
  out.measured_memory = row.memory_gb_reported;
  out.measured_mfu = row.mfu_reported;

  auto run = run_of(row, shelf);
  if (!run) {
    out.skipped_reason = run.problems().front().where;
    out.skipped_detail = run.problems().front().message;
    return out;
  }
  if (!row.out_of_memory()) {
    out.measured_step_time = measured_step_time(row, *run);
    if (!out.measured_step_time) {
      out.skipped_reason = "cell missing: step_time_s";
      out.skipped_detail = "and none of tokens, FLOPs or MFU that would tell it";
      return out;
    }
  }
  settle_recomputation(run.value());
  const Forecast predicted = forecast_of(*run);
  out.predicted_step_time = predicted.step_time.value();
  out.predicted_memory = (predicted.memory.total() - predicted.driver).value() / kGiB;
  out.predicted_fits = predicted.fits;
  out.predicted_mfu = 100 * predicted.mfu;
  out.assumed = std::move(run->assumed);
  out.contest = contest_of(row, *run);
  return out;
}

RankingSummary ranking_of(const std::vector<const ValidationRow*>& rows) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> contests;
  for (const ValidationRow* row : rows) {
    if (!row->error()) continue;
    auto& [measured, predicted] = contests[row->contest];
    measured.push_back(*row->measured_step_time);
    predicted.push_back(*row->predicted_step_time);
  }
  std::vector<double> correlations, regrets;
  for (const auto& [name, times] : contests) {
    const auto& [measured, predicted] = times;
    if (measured.size() < kSmallestContest) continue;
    if (const auto correlation = spearman(measured, predicted)) {
      correlations.push_back(*correlation);
    }
    const auto taken = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
    regrets.push_back(measured[static_cast<std::size_t>(taken)] /
                          *std::min_element(measured.begin(), measured.end()) -
                      1);
  }
  return {regrets.size(), quantile(correlations, 0.5).value_or(0),
          quantile(regrets, 0.5).value_or(0)};
}

ValidationGroup group_of(std::string name, const std::vector<const ValidationRow*>& rows) {
  ValidationGroup out;
  out.name = std::move(name);
  out.rows = rows.size();
  std::vector<double> time_errors, memory_errors, mfu_differences;
  for (const ValidationRow* row : rows) {
    if (!row->predicted()) {
      ++out.skipped[row->skipped_reason];
      continue;
    }
    ++out.predicted;
    if (!row->assumed.empty()) ++out.filled;
    if (const auto error = row->error()) time_errors.push_back(*error);
    const bool ran = row->outcome == "ok";
    if (ran && row->measured_memory && row->predicted_memory) {
      memory_errors.push_back(*row->predicted_memory / *row->measured_memory - 1);
    }
    if (ran && row->measured_mfu && row->predicted_mfu) {
      mfu_differences.push_back(std::abs(*row->predicted_mfu - *row->measured_mfu));
    }
    if (row->predicted_fits) {
      int& cell = *row->predicted_fits ? (ran ? out.fits.fits_fits : out.fits.fits_not)
                                       : (ran ? out.fits.not_fits : out.fits.not_not);
      ++cell;
    }
  }
  out.step_time = summarise(time_errors);
  out.memory = summarise(memory_errors);
  out.mfu_difference = quantile(mfu_differences, 0.5);
  out.ranking = ranking_of(rows);
  return out;
}

// The name of a row's group; scale: powers of two of 8 accelerators, in an order that sorts.
std::pair<int, std::string> key_of(const ValidationRow& row, ValidateBy by) {
  switch (by) {
    case ValidateBy::source:
      return {0, row.source_key};
    case ValidateBy::accelerator:
      return {0, row.accelerator};
    case ValidateBy::framework:
      return {0, row.framework};
    case ValidateBy::scale:
      break;
  }
  constexpr std::pair<std::int64_t, const char*> kScales[] = {
      {0, "not stated"}, {8, "1-8"},       {16, "9-16"},     {32, "17-32"},     {64, "33-64"},
      {128, "65-128"},   {256, "129-256"}, {512, "257-512"}, {1024, "513-1024"}};
  int index = 0;
  for (const auto& [most, name] : kScales) {
    if (row.n_accel <= most) return {index, name};
    ++index;
  }
  return {index, "1025-"};
}

}  // namespace

std::optional<double> ValidationRow::error() const {
  if (outcome != "ok" || !measured_step_time || !predicted_step_time) return std::nullopt;
  return *predicted_step_time / *measured_step_time - 1;
}

std::vector<ValidationRow> predict_rows(const Corpus& corpus) {
  Shelf shelf;
  std::vector<ValidationRow> out;
  out.reserve(corpus.rows.size());
  for (const CorpusRow& row : corpus.rows) out.push_back(predict_row(row, shelf));
  return out;
}

ValidationReport summarise(std::vector<ValidationRow> rows, ValidateBy by) {
  ValidationReport out;
  out.by = by;
  out.rows = std::move(rows);
  std::vector<const ValidationRow*> all;
  std::map<std::pair<int, std::string>, std::vector<const ValidationRow*>> groups;
  for (const ValidationRow& row : out.rows) {
    all.push_back(&row);
    groups[key_of(row, by)].push_back(&row);
  }
  for (const auto& [key, members] : groups) out.groups.push_back(group_of(key.second, members));
  out.all = group_of("all", all);
  return out;
}

Result<ValidationReport> validate(std::string_view csv, std::string file, ValidateBy by) {
  const auto corpus = read_corpus(csv, std::move(file));
  if (!corpus) return corpus.problems();
  return summarise(predict_rows(*corpus), by);
}

}  // namespace headway

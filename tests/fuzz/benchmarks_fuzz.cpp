// Files of benchmarks: any text becomes rows with a prediction or a reason, or problems.
#include <cmath>
#include <cstdlib>

#include "base/document/csv.hpp"
#include "fit/benchmarks/benchmarks.hpp"
#include "fit/serving/serving.hpp"
#include "fit/workloads/workloads.hpp"
#include "report/infer/validation.hpp"
#include "report/validation.hpp"
#include "targets.hpp"

namespace {

void check_serving(const headway::Csv& table) {
  auto rows = headway::predict_serving(table);
  if (!rows) {
    if (rows.problems().empty()) std::abort();
    return;
  }
  if (rows->size() != table.rows.size()) std::abort();
  for (const headway::ServedRow& row : *rows) {
    if (row.fits.has_value() != row.skipped_reason.empty()) std::abort();
    for (const auto& predicted : row.predicted) {
      if (predicted && !(std::isfinite(*predicted) && *predicted >= 0)) std::abort();
    }
  }
  const headway::ServedReport report = headway::summarise_serving(std::move(*rows));
  const auto written = headway::parse_csv(headway::serving_csv(report.rows), "rows.csv");
  if (!written || written->rows.size() != report.rows.size()) std::abort();
  if (headway::serving_validation_text(report, {}, {}).empty()) std::abort();
  if (headway::serving_validation_json(report, {}, {}, true).empty()) std::abort();
}

}  // namespace

void headway::fuzz::benchmarks(std::string_view text) {
  const auto table = headway::parse_csv(text, "benchmarks.csv");
  if (!table) return;
  const headway::CorpusKind kind = headway::corpus_kind(*table);
  if (kind == headway::CorpusKind::training) return;
  if (kind == headway::CorpusKind::serving) return check_serving(*table);
  auto rows = kind == headway::CorpusKind::workloads ? headway::predict_workloads(*table)
                                                     : headway::predict_benchmarks(*table, kind);
  if (!rows) {
    if (rows.problems().empty()) std::abort();
    return;
  }
  if (rows->size() != table->rows.size()) std::abort();
  for (const headway::BenchmarkRow& row : *rows) {
    if (row.predicted.has_value() != row.skipped_reason.empty()) std::abort();
    if (row.predicted && !(std::isfinite(row.predicted->value()) && row.predicted->value() > 0)) {
      std::abort();
    }
  }
  const headway::BenchmarkReport report = headway::summarise(kind, std::move(*rows));
  const auto written = headway::parse_csv(headway::to_csv(kind, report.rows), "rows.csv");
  if (!written || written->rows.size() != report.rows.size()) std::abort();
  if (headway::to_text(report).empty() || headway::benchmarks_json(report, true).empty()) {
    std::abort();
  }
}

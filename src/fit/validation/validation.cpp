#include "fit/validation/validation.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "fit/corpus/contradicted.hpp"
#include "fit/corpus/forecast.hpp"
#include "fit/intervals/guesses.hpp"
#include "forecast/own_interval.hpp"

namespace headway {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

std::string contest_of(const CorpusRow& row, const CorpusRun& run) {
  return row.source_key + ": " + row.model_name + ", " + std::to_string(run.model.layers()) +
         " layers, " + std::to_string(*row.n_accel) + " x " + row.accelerator + ", batch " +
         std::to_string(run.job.global_batch) + " x " + std::to_string(run.job.sequence);
}

std::string parallelism_of(const CorpusRun& run) {
  const Layout& layout = run.layout;
  std::vector<std::string> parts;
  const std::int64_t node = run.cluster.levels.front().size;
  if (layout.tp > 1) parts.emplace_back(layout.tp > node ? "tp across nodes" : "tp");
  if (layout.cp > 1) parts.emplace_back("cp");
  if (layout.pp > 1) parts.emplace_back("pp");
  if (layout.ep > 1) parts.emplace_back("ep");
  if (layout.zero == 3) parts.emplace_back("fsdp");
  return parts.empty() ? "data only" : join(parts, " + ");
}

// [INTERVAL-3] Virtual stages that were guessed may be as few or as many as there can be: the
// interval is the hull of the intervals there.
void span_stages(const CorpusRun& run, const IntervalModel& intervals, const OwnSetup* own,
                 ValidationRow& out) {
  std::int64_t least = run.layout.vpp, most = run.layout.vpp;
  for (const CorpusRun& other : stages_in_question(run)) {
    Forecast predicted = forecast_of(other);
    add_intervals(intervals, other, predicted, guesses_of(other));
    if (own != nullptr) narrow_interval(*own, predicted);
    const Interval<Seconds>& times = *predicted.step_time_interval;
    out.interval_low = std::min(*out.interval_low, times.low.value());
    out.interval_high = std::max(*out.interval_high, times.high.value());
    least = std::min(least, other.layout.vpp);
    most = std::max(most, other.layout.vpp);
  }
  if (most > least) {
    out.assumed.push_back("interval=vpp " + std::to_string(least) + " to " + std::to_string(most));
  }
}

ValidationRow predict_row(const CorpusRow& row, Shelf& shelf, const IntervalModel* intervals,
                          const std::shared_ptr<const OwnRuns>& own) {
  ValidationRow out;
  out.id = row.id;
  out.source_key = row.source_key;
  out.source = row.source;
  out.accelerator = row.accelerator;
  out.framework = name_of(framework_of(row));
  out.model_name = row.model_name;
  out.outcome = row.outcome;
  out.n_accel = row.n_accel.value_or(0);
  out.measured_step_time = row.step_time_s;
  out.measured_memory = row.memory_gb_reported;
  out.measured_mfu = row.mfu_reported;

  auto run = run_of(row, shelf);
  if (!run) {
    out.skipped_reason = where_text(run.problems().front());
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
  out.architecture = run->cluster.accelerator.traits.title;
  settle_recomputation(run.value());
  run->own = own;
  const OwnSetup* of_setup = own_setup(*run);
  out.by_own_runs = of_setup != nullptr;
  Forecast predicted = forecast_of(*run);
  out.predicted_step_time = predicted.step_time.value();
  if (intervals != nullptr) {
    add_intervals(*intervals, *run, predicted, guesses_of(*run));
    if (of_setup != nullptr) narrow_interval(*of_setup, predicted);
    out.interval_low = predicted.step_time_interval->low.value();
    out.interval_high = predicted.step_time_interval->high.value();
    span_stages(*run, *intervals, of_setup, out);
  }
  out.predicted_memory = reported_memory(*run, predicted).value() / kGiB;
  out.predicted_load = predicted.memory.total() / predicted.capacity;
  out.predicted_fits = predicted.fits;
  out.predicted_mfu = 100 * predicted.mfu;
  out.assumed.insert(out.assumed.begin(), run->assumed.begin(), run->assumed.end());
  out.contest = contest_of(row, *run);
  out.parallelism = parallelism_of(*run);
  return out;
}

}  // namespace

std::optional<std::vector<ValidationRow>> predict_rows(const std::vector<CorpusRow>& rows,
                                                       int threads, const Progress& progress,
                                                       const IntervalModel* intervals,
                                                       std::shared_ptr<const OwnRuns> own) {
  std::vector<ValidationRow> out(rows.size());
  std::vector<Shelf> shelves(workers_of(threads));
  const bool done = for_each_index(
      rows.size(), threads,
      [&](std::size_t i, std::size_t worker) {
        out[i] = predict_row(rows[i], shelves[worker], intervals, own);
      },
      progress);
  if (!done) return std::nullopt;
  const auto larger = larger_that_ran(rows);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].contradicted = larger[i] != nullptr;
  return out;
}

Result<ValidationReport> validate(std::string_view csv, std::string file, ValidateBy by) {
  const auto corpus = read_corpus(csv, std::move(file));
  if (!corpus) return corpus.problems();
  return summarise(*predict_rows(corpus->rows), by);
}

}  // namespace headway

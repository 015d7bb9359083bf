// scale: whole training runs, alone and along an axis.
#include <algorithm>
#include <iterator>
#include <utility>

#include "api/commands.hpp"
#include "base/generated.hpp"
#include "base/quantity_text.hpp"
#include "platform/output.hpp"
#include "report/problems.hpp"
#include "report/scale_published.hpp"
#include "report/scale_run.hpp"
#include "report/scale_sweep.hpp"

namespace headway {
CommandOutput run_scale_run(const ScaleRunRequest& request) {
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};

  // The whole run, or everything that is wrong with it.
  const auto whole = whole_run(*fields);
  if (!whole) return {.problems = whole.problems()};
  if (whole->cost.hopeless) {
    const std::string why =
        "no checkpoint is reached: the run is interrupted every " +
        duration_text(whole->cost.reliability.mean_time_between) + ", and " +
        duration_text(whole->cost.interval + whole->cost.reliability.checkpoint +
                      whole->cost.reliability.restart) +
        " must pass without an interruption; a longer --mtbf, a faster --restart or fewer "
        "accelerators";
    return {.text = request.json ? problems_json({{"mtbf", why}}) : why + "\n", .exit_code = 1};
  }

  // The same with fewer and more accelerators.
  const ScaledRuns scaled = by_accelerators(*whole);

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, scale_run_csv(scaled)});
  if (!request.plot.empty()) {
    auto plots = scale_run_plots(*whole, scaled, request.plot);
    std::move(plots.begin(), plots.end(), std::back_inserter(files));
  }
  Problems problems = write_files(files, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json ? scale_run_json(*whole, scaled) : scale_run_text(*whole, scaled),
          .exit_code = whole->forecast.fits ? 0 : 1};
}

CommandOutput run_scale_sweep(const ScaleSweepRequest& request) {
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};

  // What is asked, or everything that is wrong with it.
  auto question = read_sweep(request.axis, *fields);
  if (!question) return {.problems = question.problems()};

  // Every point.
  const LayoutChoice best = question->best ? best_of_all() : LayoutChoice();
  const auto answer =
      make_sweep(std::move(question).value(), best, request.threads, request.progress);
  if (!answer) return {.problems = answer.problems()};
  const bool none = std::all_of(answer->series.begin(), answer->series.end(),
                                [](const SweepSeries& series) { return series.points.empty(); });

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, scale_sweep_csv(*answer)});
  if (!request.plot.empty() && !none) {
    auto plots = scale_sweep_plots(*answer, request.plot);
    std::move(plots.begin(), plots.end(), std::back_inserter(files));
  }
  Problems problems = write_files(files, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json ? scale_sweep_json(*answer) : scale_sweep_text(*answer),
          .exit_code = none ? 1 : 0};
}

CommandOutput run_scale_published(const ScalePublishedRequest& request) {
  const auto runs = published_runs();
  if (!runs) return {.problems = runs.problems()};
  if (!request.report.empty()) {
    const auto page = page_to_renew(request.report, "scaling.md");
    if (!page) return {.problems = page.problems()};
    const auto sweeps = page_sweeps();
    if (!sweeps) return {.problems = sweeps.problems()};
    GeneratedBlocks blocks = scale_sweep_blocks(*sweeps);
    blocks["published"] = published_markdown(*runs);
    const auto renewed = with_generated(page->text, page->path, blocks);
    if (!renewed) return {.problems = renewed.problems()};
    std::vector<OutputFile> files = {{page->path, *renewed}};
    for (const PageSweep& sweep : *sweeps) {
      auto plots = scale_sweep_plots(sweep.answer, request.report + "/scaling");
      std::move(plots.begin(), plots.end(), std::back_inserter(files));
    }
    Problems problems = write_files(files, request.report + "/scaling");
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? published_json(*runs) : published_text(*runs)};
}

}  // namespace headway

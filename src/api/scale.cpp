// scale: whole training runs, alone and along an axis.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/generated.hpp"
#include "base/quantity_text.hpp"
#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "platform/output.hpp"
#include "report/problems.hpp"
#include "report/published.hpp"
#include "report/scale_run.hpp"
#include "report/scale_sweep.hpp"

namespace headway {
CommandOutput run_scale_run(const ScaleRunRequest& request) {
  if (!request.phases.empty() || request.phases_here) return run_scale_phases(request);
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
  const bool divides = question->best && question->axis != SweepAxis::layout;
  if (request.division.divided() && !divides) {
    return {.problems = {{FieldName("shard"),
                          question->best ? "has nothing to divide: one best layout is looked for"
                                         : "has nothing to divide without --best: the layouts of "
                                           "the points are given"}}};
  }
  const LayoutChoice best = question->best ? best_of_all() : LayoutChoice();
  const auto answer =
      request.division.divided()
          ? make_sweep_in_parts(std::move(question).value(), request.division, request.threads,
                                request.progress)
          : make_sweep(std::move(question).value(), best, request.threads, request.progress);
  if (!answer) return {.problems = answer.problems()};
  if (request.division.only) return {};
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

namespace {

Command scale_run_command() {
  auto request = std::make_shared<ScaleRunRequest>();
  Command out{
      .name = "run",
      .help = "a whole training run: days, accelerator-hours, energy, money, CO2",
      .examples = {"headway scale run --tokens 15.6T --model llama-3.1-405b --cluster "
                   "dgx-h100 \\\n    --gpus 16384 --seq 8192 --global-batch 2048 --tp 8 --pp "
                   "16 --vpp 7 --zero 2"},
      .run = running(request, run_scale_run)};
  out.options = {operand("RUN.toml", kOverrides, &request->run_file)};
  add(out.options,
      {path("phases", "PHASES.toml", "a run in phases: tables [[phase]] of tokens and what changes",
            &request->phases),
       {.name = "phases",
        .help = "the phases in place: {phase: [{tokens, ...}], best}",
        .target = &request->phases_here,
        .door = Door::document}});
  add_fields(out.options, request->fields, scale_run_fields());
  add_fields(out.options, request->fields, run_fields());
  add(out.options,
      {path("csv", "OUT.csv", "write the run by accelerators to this file", &request->csv),
       path("plot", "DIR", "draw to this folder", &request->plot)});
  return out;
}

// In the order of SweepAxis.
constexpr std::array<std::string_view, kSweepNames.size()> kSweepHelp = {
    "more accelerators, each with as much of the batch",
    "more accelerators for the same batch",
    "larger models",
    "longer sequences",
    "generations of hardware, on their own and on the same network",
    "bandwidth, latency and NVLink domains",
    "data parallelism, also hybrid, against tensor, context and pipeline degrees"};

// What stands for the points of an axis of names: in a document built-in ones.
void bind_names(std::vector<Option>& options, SweepAxis axis) {
  const bool models = axis == SweepAxis::model;
  if (!models && axis != SweepAxis::hardware) return;
  const auto at = std::find_if(options.begin(), options.end(),
                               [](const Option& option) { return option.name == "at"; });
  at->names = models ? model_names : cluster_names;
  at->built_in = models ? "model" : "cluster";
}

Command scale_sweep_command(SweepAxis axis) {
  const auto i = static_cast<std::size_t>(axis);
  auto request = std::make_shared<ScaleSweepRequest>();
  request->axis = axis;
  Command out{.name = kSweepNames[i],
              .help = kSweepHelp[i],
              .examples = {"headway scale " + std::string(kSweepNames[i]) +
                           " --model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 \\\n    "
                           "--global-batch 128"},
              .run = running(request, run_scale_sweep),
              .divides = true};
  out.options = {operand("RUN.toml", kOverrides, &request->run_file)};
  add_fields(out.options, request->fields, scale_sweep_fields(axis));
  bind_names(out.options, axis);
  add_fields(out.options, request->fields, scale_run_fields());
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
  add(out.options, {path("csv", "OUT.csv", "write the points to this file", &request->csv),
                    path("plot", "DIR", "draw to this folder", &request->plot)});
  return out;
}

Command scale_published_command() {
  auto request = std::make_shared<ScalePublishedRequest>();
  Command out{.name = "published",
              .help = "published whole runs beside what is predicted of them",
              .examples = {"headway scale published"}};
  out.options = {path("report", "DIR",
                      "renew the generated tables of DIR/scaling.md and the plots beside it",
                      &request->report)};
  out.run = [request](const Circumstances& at) -> CommandOutput {
    if (at.refused) return {};  // there is nothing to judge
    adopt(*request, at);
    return run_scale_published(*request);
  };
  return out;
}

}  // namespace

Command scale_command() {
  Command out{.name = "scale",
              .help = "how far training scales: whole runs, and what they cost",
              .is_long = true,
              .things = "points",
              .selector = "sweep",
              .selector_help = "which command of scale"};
  for (std::size_t i = 0; i < kSweepNames.size(); ++i) {
    out.commands.push_back(
        {kSweepNames[i], [i] { return scale_sweep_command(static_cast<SweepAxis>(i)); }});
  }
  out.commands.push_back({"run", scale_run_command});
  out.commands.push_back({"published", scale_published_command});
  out.commands.push_back({"convergence", scale_convergence_command});
  out.commands.push_back({"batch", scale_batch_command});
  out.commands.push_back({"slimming", scale_slimming_command});
  out.commands.push_back({"subnetworks", scale_subnetworks_command});
  return out;
}

}  // namespace headway

#include <algorithm>
#include <array>
#include <cmath>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "fit/corpus/forecast.hpp"
#include "fit/own/runs.hpp"
#include "forecast/forecast.hpp"
#include "platform/files.hpp"
#include "run/run.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;  // bytes: some 100,000 runs

// A run with its forecast, or why its time says nothing.
std::optional<Problem> add_run(OwnRun run, const Where& where, OwnRunsRead& to) {
  const Forecast made = forecast(run.run, *run.calibration);
  run.predicted = made.step_time;
  if (run.measured < made.least_time) {
    return Problem{where, to_text(run.measured) +
                              " a step is less than its products take at the "
                              "peak rate, " +
                              to_text(made.least_time)};
  }
  if (std::abs(run.residual()) > std::log(100.0)) {
    return Problem{where, to_text(run.measured) + " a step is more than a hundred times the " +
                              to_text(run.predicted) + " of its forecast"};
  }
  to.runs.push_back(std::move(run));
  return std::nullopt;
}

void add_row(const CorpusRow& row, const std::string& file, Shelf& shelf, OwnRunsRead& to) {
  const Where where(file, row.line);
  const auto refuse = [&](const Problem& problem) {
    const std::string reason = where_text(problem);
    to.unused.push_back(
        {where, reason + (problem.message.empty() ? "" : ": ") + problem.message, problem.kind});
  };
  auto run = run_of(row, shelf);
  if (!run) return refuse(run.problems().front());
  if (row.out_of_memory()) return refuse({"outcome oom", "it ran out of memory, and has no time"});
  const auto measured = measured_step_time(row, *run);
  if (!measured) {
    return refuse({"cell missing: step_time_s",
                   "and none of tokens, FLOPs or MFU that would tell it", Trouble::missing});
  }
  if (!(*measured > 0)) return refuse({"bad cell", "its time must be above 0"});
  settle_recomputation(run.value());
  OwnRun own{file + ":" + std::to_string(row.line) + (row.id.empty() ? "" : ", " + row.id),
             *run,
             {run->machine, &run->machine->calibration},
             Seconds(*measured),
             {}};
  if (auto problem = add_run(std::move(own), where, to)) to.unused.push_back(std::move(*problem));
}

void add_corpus(const std::string& text, const std::string& file, OwnRunsRead& to,
                Problems& problems) {
  const auto corpus = read_corpus(text, file);
  if (!corpus) return append(problems, corpus.problems());
  if (!corpus->unread.empty()) to.unused.push_back(unread_columns(*corpus));
  Shelf shelf;
  for (const CorpusRow& row : corpus->rows) add_row(row, file, shelf, to);
  if (corpus->rows.empty()) problems.push_back({file, "holds no runs", Trouble::missing});
}

// The fields of a forecast's JSON that tell the time of a step, of which one is measured.
struct Measure {
  const char* name;
  Seconds (*step)(double value, const Run& run);
};
double tokens_of(const Run& run) {
  return static_cast<double>(run.job.global_batch) * static_cast<double>(run.job.sequence);
}
constexpr std::array<Measure, 4> kMeasures = {{
    {"step_time_s", [](double value, const Run&) { return Seconds(value); }},
    {"tokens_per_s", [](double value, const Run& run) { return Seconds(tokens_of(run) / value); }},
    {"tokens_per_s_per_gpu",
     [](double value, const Run& run) {
       return Seconds(tokens_of(run) / (value * static_cast<double>(run.layout.ranks())));
     }},
    {"mfu",
     [](double value, const Run& run) {
       const FlopsPerSecond peak = run.cluster.accelerator.peak_of(run.job.recipe->matmul);
       return model_flops(run.model, run.job, run.convention) /
              (static_cast<double>(run.layout.ranks()) * value * peak);
     }},
}};

void add_run_file(const std::string& path, OwnRunsRead& to, Problems& problems) {
  const std::string file = printable(path, 4096);
  const auto request = read_run_file(path);
  const auto run = request ? make_run(*request) : Result<RequestedRun>(request.problems());
  if (!run) return append(to.unused, run.problems());
  const auto document = read_document(path);
  const auto measured = document ? measured_step(*document, *run)
                                 : Result<std::optional<Seconds>>(document.problems());
  if (!measured) return append(to.unused, measured.problems());
  if (!*measured) {
    to.unused.push_back({file,
                         "has no [measured] step_time_s, tokens_per_s, tokens_per_s_per_gpu or mfu",
                         Trouble::missing});
    return;
  }
  const auto calibration = calibration_for(run->cluster, run->job.software);
  if (!calibration) return append(problems, calibration.problems());
  OwnRun own{file, *run, std::make_shared<const Calibration>(*calibration), **measured, {}};
  if (auto problem = add_run(std::move(own), Where(file), to)) {
    to.unused.push_back(std::move(*problem));
  }
}

}  // namespace

double OwnRun::residual() const {
  return std::log(measured / predicted);
}

Result<std::optional<Seconds>> measured_step(const Document& document, const Run& run) {
  if (document.root.find("measured") == nullptr) return std::optional<Seconds>();
  Problems problems;
  Fields file(document, problems);
  Fields fields = file.table("measured");
  std::optional<Seconds> out;
  std::vector<std::string> given;
  for (const Measure& measure : kMeasures) {
    if (!fields.has(measure.name)) continue;
    given.emplace_back(measure.name);
    const double value = fields.number(measure.name);
    out = measure.step(value, run);
    if (!(out->value() > 0 && std::isfinite(out->value()))) {
      fields.fail(measure.name, "must be above 0, and no more than a step can be");
    }
  }
  fields.reject_unknown();
  if (problems.empty() && given.size() != 1) {
    std::vector<std::string> names;
    for (const Measure& measure : kMeasures) names.emplace_back(measure.name);
    problems.push_back(
        {file.where("measured"), "must hold one of " + join(names, ", ") +
                                     (given.empty() ? "" : ", not " + join(given, ", "))});
  }
  if (!problems.empty()) return problems;
  return out;
}

Result<OwnRunsRead> read_measured_runs(const std::vector<std::string>& files) {
  OwnRunsRead out;
  Problems problems;
  for (const std::string& path : files) {
    if (path.ends_with(".toml") || path.ends_with(".json")) {
      add_run_file(path, out, problems);
      continue;
    }
    const auto text = read_file(path, kLargestFile);
    text ? add_corpus(*text, printable(path, 4096), out, problems)
         : append(problems, text.problems());
  }
  if (problems.empty() && out.runs.empty()) problems = out.unused;
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway

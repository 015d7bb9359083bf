// design: what which part of a machine brings.
#include "report/design/design.hpp"

#include <algorithm>
#include <array>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/text.hpp"
#include "platform/output.hpp"
#include "study/infer/question/options.hpp"
#include "study/infer/question/question.hpp"

namespace headway {
namespace {

// Of serving_fields() those that no run of training has, and that are of a batch or of clients. Not
// of requests at a rate: faster machines would not make all of their times shorter alike, so that
// what binds them could not be told [DESIGN-1].
constexpr std::array<std::string_view, 9> kServed = {"input-len",   "output-len",   "batch",
                                                     "concurrency", "weights",      "cache",
                                                     "engine",      "memory-share", "step-tokens"};
bool is_field_of_design(std::string_view name) {
  return std::find(kServed.begin(), kServed.end(), name) != kServed.end();
}

bool is_field(std::span<const RunField> fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const RunField& field) { return field.name == name; });
}

// Only what is served has it.
bool is_of_serving(const GivenField& field) {
  return is_field(serving_fields(), field.name) && !is_field(run_fields(), field.name);
}

// What is served: of it a load whose times hang on the machine alone.
Result<DesignWorkload> served_workload(const RunRequest& fields, bool bounded) {
  RunRequest known;
  Problems problems;
  for (const GivenField& field : fields) {
    const bool others = is_of_serving(field) && !is_field_of_design(field.name);
    if (!is_field(serving_fields(), field.name)) {
      problems.push_back({field.where, "is of training, and this is served"});
    } else if (others) {
      problems.push_back({field.where, "is not of what design looks at: batch, or concurrency"});
    } else {
      known.push_back(field);
    }
  }
  auto asked = read_serving(known, bounded ? Asker::another : Asker::whoever_runs_it);
  if (!asked) append(problems, asked.problems());
  if (!problems.empty()) return problems;
  return serving_workload(std::move(asked->serving), asked->load);
}

// A file and axes, where both stand without a flag: --vary memory=hbm4 link=nvlink5.
struct Words {
  std::string run_file;
  std::vector<std::string> axes;
};
Result<Words> sorted_words(const DesignRequest& request) {
  Words out{{}, request.vary};
  for (const std::string& word : request.words) {
    if (word.find('=') != std::string::npos) {
      out.axes.push_back(word);
    } else if (out.run_file.empty()) {
      out.run_file = word;
    } else {
      return Problem{FieldName("RUN.toml"), "one run file can be given, and '" +
                                                printable(word, 60) +
                                                "' would be another; an axis is NAME=VALUES"};
    }
  }
  return out;
}

Result<DesignWorkload> workload_of(const RunRequest& fields, bool bounded) {
  if (std::any_of(fields.begin(), fields.end(), is_of_serving)) {
    return served_workload(fields, bounded);
  }
  auto run = make_run(fields);
  if (!run) return run.problems();
  return training_workload(std::move(run).value());
}

}  // namespace

CommandOutput run_design(const DesignRequest& request) {
  // What the machine is asked to do, and what of it is varied, or everything that is wrong.
  const auto words = sorted_words(request);
  if (!words) return {.problems = words.problems()};
  const auto fields = read_run_request(words->run_file, request.fields);
  auto workload = fields ? workload_of(*fields, request.bounded) : fields.problems();
  if (!workload) {
    Problems problems = workload.problems();
    append(problems, problems_of_axes(words->axes));
    return {.problems = std::move(problems)};
  }
  auto axes = read_axes(words->axes, *workload);
  if (!axes) return {.problems = axes.problems()};

  // Every machine.
  const auto design =
      make_design(std::move(workload).value(), std::move(axes).value(), request.progress);
  if (!design) return {.problems = design.problems()};
  const bool none = std::none_of(design->points.begin(), design->points.end(),
                                 [](const DesignPoint& point) { return point.stands(); });

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, design_csv(*design)});
  if (!request.plot.empty()) {
    for (OutputFile& plot : design_plots(*design, request.plot)) files.push_back(std::move(plot));
  }
  Problems problems = write_files(files, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json ? design_json(*design) : design_text(*design),
          .exit_code = none ? 1 : 0};
}

Command design_command() {
  auto request = std::make_shared<DesignRequest>();
  Command out{.name = "design",
              .help = "technology: what which part of the machine brings, in training or serving",
              .examples = {"headway design --model llama-3-70b --cluster dgx-h100 --tp 8 \\\n"
                           "    --input-len 1000 --output-len 500 --batch 16 \\\n"
                           "    --vary memory=hbm3,hbm3e,hbm4 link=nvlink4,nvlink5"},
              .run = running(request, run_design),
              .is_long = true,
              .things = "machines"};
  out.options = {
      operand("RUN.toml", "a run file, which flags override; more axes", &request->words),
      {.name = "vary",
       .value = "AXIS=VALUES",
       .help = "repeatable; memory, units, package, bandwidth, capacity, memory-energy, link, "
               "link-bandwidth, link-latency, link-energy, domain, network, network-bandwidth, "
               "network-latency, network-energy, node, area, arithmetic, peak, power; values A,B,C "
               "or FROM..TO:COUNT",
       .target = &request->vary,
       .required = true}};
  for (const RunField& field : serving_fields()) {
    if (!is_field_of_design(field.name)) continue;
    add_fields(out.options, request->fields, {&field, 1});
  }
  add_fields(out.options, request->fields, run_fields(), {"model", "cluster"});
  add(out.options, {path("csv", "OUT.csv", "write the machines to this file", &request->csv),
                    path("plot", "DIR", "draw to this folder", &request->plot)});
  return out;
}

}  // namespace headway

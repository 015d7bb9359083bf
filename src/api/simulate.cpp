// simulate: what a step is made of, placed in time.
#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/document/csv.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "report/simulate/pipeline.hpp"
#include "simulate/pipeline/question.hpp"

namespace headway {
namespace {

// A table of a file; none where none is named.
Result<std::optional<Csv>> table_of(const std::string& file) {
  if (file.empty()) return std::optional<Csv>();
  const auto text = read_file(file);
  if (!text) return text.problems();
  auto table = parse_csv(*text, file);
  if (!table) return table.problems();
  return std::optional<Csv>(std::move(table).value());
}

}  // namespace

CommandOutput run_simulate_pipeline(const SimulatePipelineRequest& request) {
  // The schedule and its times, or everything that is wrong with them.
  const auto question = read_pipeline(request.fields, table_of(request.stages));
  if (!question) return {.problems = question.problems()};

  // Every slot in its place.
  const SimulatedPipeline simulated = simulate_pipeline(*question);

  if (!request.svg.empty()) {
    std::string svg = simulate_pipeline_svg(simulated);
    if (svg.empty()) {
      return {.problems = {{FieldName("svg"), "draws at most " + std::to_string(kMostDrawnSlots) +
                                                  " slots of all ranks"}}};
    }
    Problems problems = write_files({{request.svg, std::move(svg)}}, "");
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text =
              request.json ? simulate_pipeline_json(simulated) : simulate_pipeline_text(simulated)};
}

Command simulate_pipeline_command() {
  auto request = std::make_shared<SimulatePipelineRequest>();
  Command out{.name = "pipeline",
              .help = "a pipeline's schedule placed in time: makespan, spans, orders",
              .examples = {"headway simulate pipeline --schedule zero-bubble --pp 4 "
                           "--micro-batches 8 \\\n    --forward \"10 ms\" --backward \"10 ms\" "
                           "--weight \"8 ms\""},
              .run = running(request, run_simulate_pipeline)};
  add_fields(out.options, request->fields, simulate_pipeline_fields(),
             {"schedule", "pp", "micro-batches"});
  add(out.options, {path("stages", "FILE.csv",
                         "times of each stage instead: columns stage, forward, backward, weight",
                         &request->stages),
                    path("svg", "OUT.svg", "draw the timeline to this file", &request->svg)});
  return out;
}

Command simulate_command() {
  return {.name = "simulate",
          .help = "what a step is made of, placed in time",
          .commands = {{"pipeline", simulate_pipeline_command}},
          .selector = "simulate",
          .selector_help = "which command of simulate"};
}

}  // namespace headway

// simulate pipeline: a schedule with given times.
#include "report/simulate/pipeline.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "api/simulate/table.hpp"
#include "platform/output.hpp"
#include "simulate/pipeline/question.hpp"
#include "simulate/pipeline/stages.hpp"

namespace headway {
namespace {

// The table of stages; none where no file is named.
StagesTable stages_of(const std::string& file) {
  if (file.empty()) return std::optional<Csv>();
  auto table = table_of(file);
  if (!table) return table.problems();
  return std::optional<Csv>(std::move(table).value());
}

}  // namespace

CommandOutput run_simulate_pipeline(const SimulatePipelineRequest& request) {
  // The schedule and its times, or everything that is wrong with them.
  const auto question = read_pipeline(request.fields, stages_of(request.stages));
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

}  // namespace headway

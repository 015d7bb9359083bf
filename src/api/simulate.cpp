// simulate: what a step is made of, placed in time.
#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/document/csv.hpp"
#include "base/quantity_text.hpp"
#include "forecast/predict/predict.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "report/simulate/pipeline.hpp"
#include "report/simulate/replay.hpp"
#include "report/simulate/step.hpp"
#include "simulate/pipeline/question.hpp"
#include "simulate/pipeline/stages.hpp"
#include "simulate/replay/replay.hpp"
#include "simulate/timeline/events.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 28;  // bytes: six million passes

Result<Csv> table_of(const std::string& file) {
  const auto text = read_file(file, kLargestTable);
  if (!text) return text.problems();
  return parse_csv(*text, file);
}

// The table of stages; none where no file is named.
StagesTable stages_of(const std::string& file) {
  if (file.empty()) return std::optional<Csv>();
  auto table = table_of(file);
  if (!table) return table.problems();
  return std::optional<Csv>(std::move(table).value());
}

}  // namespace

CommandOutput run_simulate_step(const SimulateStepRequest& request) {
  // A legal run, or everything that is wrong with it.
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};
  const auto run = make_run(*fields);
  if (!run) return {.problems = run.problems()};

  // Its forecast, and the same in time.
  const auto forecast = predict(*run);
  const auto simulated = simulate_step(*run);
  if (!forecast || !simulated) {
    return {.problems = forecast ? simulated.problems() : forecast.problems()};
  }

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  Problems problems;
  if (!request.perfetto.empty() || !request.chrome.empty()) {
    const std::int64_t events = count_events(*simulated);
    if (events > kMostTimelineEvents) {
      for (const char* option : {"perfetto", "chrome"}) {
        const bool asked = !(option[0] == 'p' ? request.perfetto : request.chrome).empty();
        if (!asked) continue;
        problems.push_back(
            {FieldName(option), "would have " + std::to_string(events) + " events; at most " +
                                    std::to_string(kMostTimelineEvents) +
                                    ": give fewer micro-batches (a smaller --global-batch)"});
      }
      return {.problems = std::move(problems)};
    }
    const std::vector<TimelineTrack> tracks = timeline_of(*simulated);
    if (!request.perfetto.empty()) files.push_back({request.perfetto, perfetto_bytes(tracks)});
    if (!request.chrome.empty()) files.push_back({request.chrome, chrome_json(tracks)});
  }
  problems = write_files(files, "");
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json ? simulate_step_json(*run, *forecast, *simulated)
                               : simulate_step_text(*run, *forecast, *simulated),
          .exit_code = forecast->fits ? 0 : 1};
}

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

CommandOutput run_simulate_replay(const SimulateReplayRequest& request) {
  // What was measured, or everything that is wrong with it.
  Problems problems;
  std::optional<Seconds> transfer;
  if (!request.transfer.empty()) {
    const auto given = parse_quantity<Seconds>(request.transfer, FieldName("transfer"));
    if (!given) {
      append(problems, given.problems());
    } else if (std::string wrong = time_problem(*given, Least::nothing); !wrong.empty()) {
      problems.push_back({FieldName("transfer"), std::move(wrong)});
    } else {
      transfer = *given;
    }
  }
  if (request.file.empty()) {
    problems.push_back({"simulate replay", "needs a file of measured passes", Trouble::missing});
    return {.problems = std::move(problems)};
  }
  const auto table = table_of(request.file);
  const auto measured = table ? read_ops(*table) : table.problems();
  if (!measured) append(problems, measured.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};

  // The pipelines as they were, and as they might have been.
  const Replay replayed = replay(*measured, transfer);
  return {.text = request.json ? replay_json(replayed) : replay_text(replayed)};
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

Command simulate_replay_command() {
  auto request = std::make_shared<SimulateReplayRequest>();
  Command out{.name = "replay",
              .help = "measured passes of pipelines run again: which stage or worker is slow",
              .examples = {"headway simulate replay examples/slow-worker-ops.csv"},
              .run = running(request, run_simulate_replay),
              .door = Door::command_line};
  out.options = {
      operand("OPS.csv", "columns step, dp_rank, stage, micro_batch, F_s, B_s", &request->file),
      {.name = "transfer",
       .value = "TIME",
       .help = "between stages; default: 1 % of a pass in the mean",
       .target = &request->transfer}};
  return out;
}

// A run itself, or one of these.
Command simulate_command() {
  auto request = std::make_shared<SimulateStepRequest>();
  Command out{
      .name = "simulate",
      .help =
          "a step placed in time, kernel by kernel and call by call; pipelines, measured passes",
      .examples = {"headway simulate --model llama-2-7b --cluster dgx-h100 --gpus 32 --seq 4096 "
                   "\\\n    --global-batch 64 --tp 2 --pp 4"},
      .run = running(request, run_simulate_step),
      .is_long = true,
      .commands = {{"pipeline", simulate_pipeline_command},
                   {"replay", simulate_replay_command},
                   {"network", simulate_network_command},
                   {"collective", simulate_collective_command}},
      .selector = "simulate",
      .selector_help = "which command of simulate; a run itself where none is named"};
  out.options = {operand("RUN", kOverrides, &request->run_file)};
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
  add(out.options,
      {path("perfetto", "FILE", "write the timeline to this file, for ui.perfetto.dev",
            &request->perfetto),
       path("chrome", "FILE.json", "the same as Chrome's trace events", &request->chrome)});
  return out;
}

}  // namespace headway

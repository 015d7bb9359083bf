// simulate: what a step is made of, placed in time.
#include "report/simulate/step.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "api/simulate/algorithms.hpp"
#include "api/simulate/ranks.hpp"
#include "forecast/predict/predict.hpp"
#include "platform/output.hpp"
#include "simulate/calls/choices.hpp"
#include "simulate/timeline/events.hpp"
#include "simulate/workload/files.hpp"

namespace headway {
namespace {

// The workload's files, or why there are too many. Where ASTRA-sim has no network like the run's,
// that is said beside.
Problems add_workload(const Run& run, const SimulatedStep& simulated, const std::string& folder,
                      std::vector<OutputFile>& files, Problems& warnings) {
  const std::int64_t ranks = run.layout.ranks();
  std::int64_t nodes = count_events(simulated) * (ranks / run.layout.pp);
  Workload workload;
  if (nodes <= 2 * kMostWorkloadNodes) {  // some events are no nodes
    workload = workload_of(simulated);
    nodes = count_nodes(workload, run.layout);
  }
  if (nodes > kMostWorkloadNodes || ranks > kMostWorkloadRanks) {
    return {{FieldName("chakra"), "would have " + std::to_string(nodes) + " nodes on " +
                                      std::to_string(ranks) + " ranks; at most " +
                                      std::to_string(kMostWorkloadNodes) + " on " +
                                      std::to_string(kMostWorkloadRanks) +
                                      ": give fewer micro-batches (a smaller --global-batch)"}};
  }
  const auto add = [&](std::vector<WorkloadFile> more) {
    for (WorkloadFile& file : more) {
      files.push_back({folder + "/" + file.name, std::move(file.bytes)});
    }
  };
  add(workload_files(workload, run));
  const auto machine = machine_files(run);
  if (machine) add(*machine);
  if (!machine) append(warnings, machine.problems());
  return {};
}

// What a document holds of a timeline is for who draws it, not a table to read.
Problems timeline_refused(const SimulateStepRequest& request, const SimulatedStep& simulated) {
  if (!request.timeline) return {};
  if (!request.json) {
    return {{FieldName("timeline"), "is part of the JSON of a step; give --json"}};
  }
  const std::int64_t rows = count_timeline_rows(simulated);
  if (rows <= kMostTimelineRows) return {};
  return {{FieldName("timeline"), "would have " + std::to_string(rows) +
                                      " spans, kernels and calls; at most " +
                                      std::to_string(kMostTimelineRows) +
                                      ": give fewer micro-batches (a smaller --global-batch)"}};
}

Problems add_timeline(const std::vector<TimelineTrack>& tracks,
                      const std::vector<TimelineCounter>& counters, std::string_view process,
                      const SimulateStepRequest& request, std::vector<OutputFile>& files) {
  if (!request.perfetto.empty()) {
    files.push_back({request.perfetto, perfetto_bytes(tracks, counters, process)});
  }
  if (!request.chrome.empty()) {
    files.push_back({request.chrome, chrome_json(tracks, counters, process)});
  }
  return {};
}

// Of a rank for each stage, with counters.
Problems add_timeline(const Run& run, const SimulatedStep& simulated,
                      const SimulateStepRequest& request, std::vector<OutputFile>& files) {
  Problems problems = too_many_events(
      count_events(simulated) + count_values(simulated, run.cluster.levels.size()), request);
  if (!problems.empty()) return problems;
  const auto counters = counters_of(run, simulated);
  if (!counters) return counters.problems();
  return add_timeline(timeline_of(simulated), *counters, "stage", request, files);
}

// One step of every rank stands for all steps where all meet in each.
Problems method_refused(const Run& run, const RanksQuestion& ranks,
                        const SimulateStepRequest& request) {
  if (run.job.method.is_synchronous()) return {};
  Problems out;
  const auto refuse = [&](const char* what) {
    out.push_back(
        {FieldName("method"),
         std::string("is the mean over steps that differ; ") + what + " is of steps that are alike",
         Trouble::unsupported});
  };
  if (ranks.every_rank) refuse("what each rank does");
  if (!request.chakra.empty()) refuse("a workload (--chakra)");
  return out;
}

}  // namespace

CommandOutput run_simulate_step(const SimulateStepRequest& request) {
  // A legal run, or everything that is wrong with it.
  const auto fields = read_run_request(request.run_file, request.fields);
  const auto choices = read_call_choices(request.algorithms);
  Problems wrong;
  if (!fields) append(wrong, fields.problems());
  const auto run = fields ? make_run(*fields) : Result<RequestedRun>(fields.problems());
  if (fields && !run) append(wrong, run.problems());
  if (!choices) append(wrong, choices.problems());
  const auto of_ranks = run ? ranks_asked(*run, request) : Result<RanksQuestion>(Problems{});
  if (run && !of_ranks) append(wrong, of_ranks.problems());
  if (run && of_ranks) append(wrong, method_refused(*run, *of_ranks, request));
  if (!wrong.empty()) return {.problems = std::move(wrong)};

  // Calls by their algorithms, where some are named.
  const auto chosen = chosen_calls(*choices, *run);
  if (!chosen) return {.problems = chosen.problems()};

  // Its forecast, and the same in time.
  const auto forecast = predict(*run);
  const auto simulated = simulate_step(*run, {.times = times_of(*chosen)});
  if (!forecast || !simulated) {
    return {.problems = forecast ? simulated.problems() : forecast.problems()};
  }

  // Every rank by itself, where that was asked for.
  const auto ranks = placed_ranks(*run, *simulated, *of_ranks, request);
  if (!ranks) return {.problems = ranks.problems()};

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  Problems problems = timeline_refused(request, *simulated);
  if (!request.perfetto.empty() || !request.chrome.empty()) {
    append(problems, ranks->answer.asked.every_rank
                         ? add_timeline(ranks->tracks, {}, "rank", request, files)
                         : add_timeline(*run, *simulated, request, files));
  }
  Problems warnings;
  if (!request.chakra.empty()) {
    append(problems, add_workload(*run, *simulated, request.chakra, files, warnings));
  }
  if (problems.empty()) problems = write_files(files, request.chakra);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json
                      ? simulate_step_json(*run, *forecast, *simulated, ranks->answer, *chosen,
                                           request.timeline)
                      : simulate_step_text(*run, *forecast, *simulated, ranks->answer, *chosen),
          .exit_code = forecast->fits ? 0 : 1,
          .warnings = std::move(warnings)};
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
      .commands = {{"codesign", simulate_codesign_command},
                   {"pipeline", simulate_pipeline_command},
                   {"replay", simulate_replay_command},
                   {"network", simulate_network_command},
                   {"collective", simulate_collective_command},
                   {"recording", simulate_recording_command}},
      .selector = "simulate",
      .selector_help = "which command of simulate; a run itself where none is named"};
  out.options = {operand("RUN", kOverrides, &request->run_file)};
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
  add_fields(out.options, request->ranks, ranks_fields());
  add(out.options,
      {path("perfetto", "FILE", "write the timeline to this file, for ui.perfetto.dev",
            &request->perfetto),
       path("chrome", "FILE.json", "the same as Chrome's trace events", &request->chrome),
       path("chakra", "FOLDER",
            "write a Chakra trace for each rank there, and what ASTRA-sim reads beside them",
            &request->chakra),
       algorithm_option(request->algorithms),
       wordless("timeline", "with --json: everything in its place, for who draws it",
                request->timeline)});
  return out;
}

}  // namespace headway

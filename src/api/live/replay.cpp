// replay: compiles what is to be run, has it run, and reads what was recorded of it.
#include "api/live/replay.hpp"

#include <algorithm>
#include <optional>

#include "api/options.hpp"
#include "base/text.hpp"
#include "forecast/predict/predict.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "platform/paths.hpp"
#include "report/live/replay.hpp"
#include "simulate/live/file.hpp"
#include "simulate/live/of_recording.hpp"
#include "simulate/live/of_step.hpp"
#include "simulate/live/single.hpp"
#include "simulate/workload/files.hpp"
#include "study/traffic/expected.hpp"
#include "trace/files.hpp"

namespace headway {
namespace {

struct ReplayRequest {
  std::vector<std::string> files;  // a run file, a list, or traces
  RunRequest fields;               // of the run; they override the file
  std::string backend, compute;    // empty: mpi, spin
  bool single = false, step = false, sizes = false;
  std::optional<std::int64_t> repeat, warm;  // 20, 3
  std::optional<std::int64_t> ranks;         // the most that can be started
  std::string launcher;
  std::optional<std::string> output;  // "replay"
  std::string list;                   // file to write instead
  std::string from;                   // folder of a replay that was run elsewhere
  std::string csv;
  bool json = false;
  Progress progress = {};
};

std::vector<std::string> backends() {
  return {"mpi", "gloo", "nccl"};
}
std::vector<std::string> computes() {
  return {"spin", "gemm"};
}

// What is run, and what is expected of it where that is known.
struct ToReplay {
  LiveList list;
  std::optional<ReplayForecast> forecast;
};

bool is_list(const std::string& file) {
  return file.ends_with(".jsonl");
}

Problems check(const ReplayRequest& request) {
  Problems problems;
  const auto one_of = [&](const char* flag, const std::string& text,
                          const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), text) != names.end()) return;
    problems.push_back({FieldName(flag), not_known(text, names), Trouble::unknown});
  };
  const auto refuse = [&](const char* flag, bool given, const char* why) {
    if (given) problems.push_back({FieldName(flag), why});
  };
  if (!request.backend.empty()) one_of("backend", request.backend, backends());
  if (!request.compute.empty()) one_of("compute", request.compute, computes());
  refuse("single", request.single && request.step, "stands beside --step; ask for one of them");
  refuse("sizes", request.sizes && !request.single, "are of calls one by one; give --single");
  refuse("compute", request.single && request.compute == "gemm",
         "is of a step: calls one by one have none between them");
  refuse("repeat", request.repeat.value_or(1) < 1, "must be at least 1: nothing else is measured");
  refuse("warm", request.warm.value_or(0) < 0, "must be at least 0");
  refuse("ranks", request.ranks.value_or(1) < 1, "must be at least 1");
  refuse("ranks", request.ranks && !request.launcher.empty(),
         "is of what is started here; --launcher says itself how many it starts");

  // Nothing is run, or nothing is reported.
  const bool was_run = !request.from.empty();
  refuse("list", was_run && !request.list.empty(),
         "is written of what is to be run, and --from was run");
  for (const auto& [flag, given] : {std::pair{"backend", !request.backend.empty()},
                                    {"compute", !request.compute.empty()},
                                    {"repeat", request.repeat.has_value()},
                                    {"warm", request.warm.has_value()},
                                    {"ranks", request.ranks.has_value()},
                                    {"launcher", !request.launcher.empty()},
                                    {"output", request.output.has_value()},
                                    {"single", request.single},
                                    {"step", request.step}}) {
    refuse(flag, was_run && given, "says how to run, and --from was run");
  }
  constexpr const char* kNothingRun = "is of what was measured, and --list runs nothing";
  refuse("csv", !request.list.empty() && !request.csv.empty(), kNothingRun);
  refuse("json", !request.list.empty() && request.json, kNothingRun);
  return problems;
}

// The step of a run.
Result<ToReplay> of_run(const std::string& run_file, const RunRequest& fields) {
  const auto all = read_run_request(run_file, fields);
  if (!all) return all.problems();
  const auto run = make_run(*all);
  if (!run) return run.problems();
  if (Problems cannot = simulation_problems(*run); !cannot.empty()) return cannot;
  if (!run->job.method.is_synchronous()) {
    return Problem{FieldName("method"), "is the mean over steps that differ; one step is replayed",
                   Trouble::unsupported};
  }
  const auto expected = expected_calls(*run);
  if (!expected) return expected.problems();
  const auto simulated = simulate_step(*run);
  if (!simulated) return simulated.problems();
  const Workload workload = workload_of(*simulated);
  if (count_nodes(workload, run->layout) > kMostLiveItems / 2 ||
      run->layout.ranks() > kMostLiveRanks) {
    return Problem{"replay",
                   "the step would have " + std::to_string(count_nodes(workload, run->layout)) +
                       " kernels and calls; at most " + std::to_string(kMostLiveItems / 2) +
                       ": give fewer micro-batches (a smaller --global-batch)"};
  }
  ToReplay out;
  out.list = list_of_step(
      workload, *run,
      run->model.name + " on " + std::to_string(run->layout.ranks()) + " of " + run->cluster.name);
  out.forecast.emplace();
  out.forecast->step = expected->forecast.step_time;
  for (const ClassTraffic& stage : expected->traffic.classes) {
    for (const TrafficCall& call : stage.calls) {
      out.forecast->calls.push_back(
          {std::string(to_name(call.call.group)), call.call.op, call.call.bytes, call.each});
    }
  }
  return out;
}

Result<LiveList> list_of_file(const std::string& path) {
  const auto text = read_file(path, kLargestLiveList);
  if (!text) return text.problems();
  return read_list(*text, printable(path, 4096));
}

// Of a run, a list or traces; or what is wrong with them.
Result<ToReplay> to_replay(const ReplayRequest& request) {
  const auto& files = request.files;
  const auto runs = std::count_if(files.begin(), files.end(), is_run_file);
  const auto lists = std::count_if(files.begin(), files.end(), is_list);
  if (files.empty() && request.fields.empty() && request.from.empty()) {
    return Problem{"replay",
                   "needs a run (RUN.toml, or --model, --cluster, --gpus, --seq and "
                   "--global-batch), a recording, or a list (.jsonl)",
                   Trouble::missing};
  }
  if (runs + lists > 1 || (runs + lists == 1 && files.size() > 1)) {
    return Problem{"replay", "runs one thing: a run, a list, or the traces of one run"};
  }
  if (runs == 1 || (files.empty() && !request.fields.empty())) {
    return of_run(files.empty() ? "" : files.front(), request.fields);
  }
  if (!request.fields.empty()) {
    return Problem{"replay", "fields of a run stand beside what was recorded or compiled of one"};
  }
  ToReplay out;
  if (files.empty() || lists == 1) {
    auto list =
        list_of_file(files.empty() ? in_folder(request.from, "replay/list.jsonl") : files.front());
    if (!list) return list.problems();
    out.list = std::move(list).value();
    return out;
  }
  RunRecording run = read_run_traces(files, request.progress);
  if (run.stopped) return Problem{"replay", "was stopped", Trouble::stopped};
  if (run.files.empty()) return run.unread;
  auto list = list_of_recording(run.recording);
  if (!list) return list.problems();
  out.list = std::move(list).value();
  return out;
}

Problems check_ranks(const ReplayRequest& request, std::int64_t ranks, std::int64_t cores) {
  const std::int64_t most = request.ranks.value_or(cores);
  if (!request.list.empty() || !request.launcher.empty() || ranks <= most) return {};
  if (request.backend == "nccl" && !request.ranks) return {};  // of its GPUs, which it counts
  const std::string are = request.ranks ? "may be started (--ranks)" : "cores are here";
  return {{"replay", "is of " + std::to_string(ranks) + " ranks, and " + std::to_string(most) +
                         " " + are + ": make the run one of " + std::to_string(most) +
                         " (--gpus), say that more may share the cores (--ranks " +
                         std::to_string(ranks) +
                         "), or name what starts them elsewhere "
                         "(--launcher \"srun -n " +
                         std::to_string(ranks) + "\"; --list FILE.jsonl writes the list)"}};
}

bool has_products(const LiveList& list) {
  return std::any_of(list.ranks.begin(), list.ranks.end(), [](const auto& items) {
    return std::any_of(items.begin(), items.end(),
                       [](const LiveItem& item) { return item.product.has_value(); });
  });
}

Result<ReplayTimes> times_in(const std::string& folder) {
  const auto document = read_document(in_folder(folder, "replay/times.json"));
  if (!document) return document.problems();
  return read_replay_times(*document);
}

// What was recorded of a replay, beside what was expected.
CommandOutput report(const ReplayRequest& request, const std::string& folder,
                     const ToReplay& what) {
  auto times = times_in(folder);
  if (!times) return {.problems = times.problems()};
  RunRecording run = read_run_traces({folder}, request.progress);
  if (run.stopped) return {.problems = {{"replay", "was stopped", Trouble::stopped}}};
  if (run.files.empty()) return {.problems = std::move(run.unread)};
  const Replayed made = replayed(what.list, run.recording, std::move(times).value(), what.forecast);
  if (!request.csv.empty()) {
    Problems problems = write_files({{request.csv, replay_csv(made)}});
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? replay_json(made) : replay_text(made)};
}

// Whether a list that was run is of the same calls: of one by one it may have more, of a step not.
bool is_of(const LiveList& kept, bool single, const LiveList& list) {
  // Single calls have groups behind those of the step.
  const auto& groups = list.groups;
  return kept.source == list.source && kept.groups.size() >= groups.size() &&
         std::equal(groups.begin(), groups.end(), kept.groups.begin()) &&
         has_single_calls(kept, list) && (single || count_calls(kept) == count_calls(list));
}

// Of a replay that was run before: of the list that is kept with it, whatever is compiled now.
CommandOutput report_of_before(const ReplayRequest& request, ToReplay what) {
  const std::string kept = in_folder(request.from, "replay/list.jsonl");
  if (!exists(kept) || (request.files.empty() && request.fields.empty())) {
    return report(request, request.from, what);
  }
  auto list = list_of_file(kept);
  if (!list) return {.problems = list.problems()};
  const auto times = times_in(request.from);
  if (!times) return {.problems = times.problems()};
  if (!is_of(*list, times->single, what.list)) {
    return {.problems = {
                {FieldName("from"), printable(request.from) + " holds a replay of another list: " +
                                        printable(list->source, 200) + "; leave the run out"}}};
  }
  what.list = std::move(list).value();
  return report(request, request.from, what);
}

CommandOutput run_replay(const ReplayRequest& request, const ReplayStarter& starter) {
  // What is to be run, or all that is wrong with it.
  Problems problems = check(request);
  auto what = to_replay(request);
  if (!what) append(problems, what.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  if (request.compute == "gemm" && !has_products(what->list)) {
    return {.problems = {{FieldName("compute"),
                          "gemm makes the products of a step, and the list has none: a recording "
                          "does not say them"}}};
  }
  if (request.single) what->list = single_calls(what->list, request.sizes);
  if (!request.from.empty()) return report_of_before(request, std::move(what).value());
  const auto ranks = static_cast<std::int64_t>(what->list.ranks.size());
  problems = check_ranks(request, ranks, starter.cores);
  if (!problems.empty()) return {.problems = std::move(problems)};

  const std::string output = request.output.value_or("replay");
  ReplayStart start;
  start.backend = request.backend.empty() ? "mpi" : request.backend;
  start.launcher = request.launcher;
  start.folder = output;
  start.list = request.list.empty() ? in_folder(output, "replay/list.jsonl") : request.list;
  start.times = in_folder(output, "replay/times.json");
  start.ranks = ranks;
  start.here = request.list.empty() && request.launcher.empty();
  start.single = request.single;
  start.multiplies = request.compute == "gemm";
  start.repeat = request.repeat.value_or(start.repeat);
  start.warm = request.warm.value_or(start.warm);

  // What would start it is here; then the list alone, and how it is run.
  const auto program = starter.prepare(start);
  if (!program) return {.problems = program.problems()};
  if (!request.list.empty()) {
    problems = write_files({{request.list, list_text(what->list)}});
    if (!problems.empty()) return {.problems = std::move(problems)};
    return {.text = program->shown + "\n"};
  }

  // Run to its end, and read.
  if (is_folder(output)) {
    const auto there = file_names_in(output, kMostFiles);
    if (!there || !there->empty() || is_folder(in_folder(output, "replay"))) {
      return {.problems = {{FieldName("output"), printable(output) +
                                                     " is not empty: a replay stands alone; name "
                                                     "another folder"}}};
    }
  }
  problems = write_files({}, output);
  if (problems.empty()) {
    problems = write_files({{start.list, list_text(what->list)}}, in_folder(output, "replay"));
  }
  if (!problems.empty()) return {.problems = std::move(problems)};
  const auto code = program->run();
  if (!code) return {.problems = code.problems()};
  if (*code != 0) {
    return {.problems = {{"replay", "ended with exit code " + std::to_string(*code) +
                                        "; what it said stands above"}}};
  }
  return report(request, output, *what);
}

}  // namespace

Command replay_command(const ReplayStarter& starter) {
  auto request = std::make_shared<ReplayRequest>();
  Command out{
      .name = "replay",
      .help = "run the calls and the computation of a step on this machine, and measure",
      .examples = {"headway replay --model examples/small-llama.toml --cluster examples/cores.toml "
                   "\\\n    --gpus 2 --seq 128 --global-batch 4 --tp 2 --single --sizes "
                   "-o singles",
                   "headway replay RUN.toml --step --repeat 20 -o steps",
                   "headway replay recording --step"},
      .run =
          [request, starter](const Circumstances& at) {
            adopt(*request, at);
            return run_replay(*request, starter);
          },
      .door = Door::command_line,
      .doing = "reading",
      .things = "bytes"};
  out.options = {
      operand(
          "RUN|RECORDING",
          "a run file, whose fields flags override; traces of one run, of any format that comms "
          "reads, or a folder of them; or a list (.jsonl)",
          &request->files),
      {.name = "backend",
       .value = "NAME",
       .help = "what carries the calls; default: mpi",
       .target = &request->backend,
       .names = backends},
      {.name = "compute",
       .value = "NAME",
       .help = "spin (default): the clock for as long as planned; gemm: the products themselves",
       .target = &request->compute,
       .names = computes},
      wordless("single", "each distinct call by itself: what calibrate --collectives takes",
               request->single),
      wordless("step", "the whole step, calls beside computation: so where nothing is said",
               request->step),
      wordless("sizes", "with --single: besides, tensors from 256 B on, as a fit needs them",
               request->sizes),
      {.name = "repeat", .help = "repeats that count; default: 20", .target = &request->repeat},
      {.name = "warm",
       .help = "repeats before them, which are dropped; default: 3",
       .target = &request->warm},
      {.name = "ranks",
       .help = "the most that may be started here; default: the cores",
       .target = &request->ranks},
      {.name = "launcher",
       .value = "COMMAND",
       .help = "what starts the ranks, as \"srun -n 4\"; default: mpirun",
       .target = &request->launcher},
      {.name = "output",
       .value = "DIR",
       .help = "folder for the recording, made or empty; default: replay",
       .target = &request->output,
       .letter = 'o'},
      path("list", "FILE.jsonl", "write the list and say how it is run", &request->list),
      path("from", "DIR", "report of a replay that was run before", &request->from),
      path("csv", "OUT.csv", "the calls as a table", &request->csv)};
  add_fields(out.options, request->fields, run_fields(), {});
  return out;
}

}  // namespace headway

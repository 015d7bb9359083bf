// The rows: every command with its options.
#include <algorithm>
#include <array>
#include <memory>

#include "api/command.hpp"
#include "cluster/load.hpp"
#include "fit/validation/validation.hpp"
#include "launch/launch.hpp"
#include "limits/load.hpp"
#include "model/load.hpp"
#include "study/plan/fields.hpp"
#include "study/plan/plan.hpp"

namespace headway {
namespace {

template <std::size_t N>
std::vector<std::string> words(const std::array<std::string_view, N>& names) {
  return {names.begin(), names.end()};
}
std::vector<std::string> launchers() {
  return words(kLauncherNames);
}

constexpr Range kCounts = {1, 1'000'000'000};
constexpr std::string_view kOverrides = "a run file; flags override its fields";
const std::vector<std::string_view> kRunNeeds = {"model", "cluster", "seq", "global-batch"};

// The fields of a run and the like: their reader judges what they may be.
void add_fields(std::vector<Option>& options, RunRequest& into, std::span<const RunField> fields,
                const std::vector<std::string_view>& needed = {}) {
  options.reserve(options.size() + fields.size() + 32);
  for (const RunField& field : fields) {
    options.push_back(
        {.name = field.name,
         .value = field.value,
         .help = field.help,
         .target = &into,
         .required = std::find(needed.begin(), needed.end(), field.name) != needed.end()});
  }
}
void add(std::vector<Option>& options, std::vector<Option> more) {
  options.insert(options.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
}

// A file or folder of this machine.
Option path(std::string_view name, std::string_view value, std::string_view help, Target target) {
  return {.name = name, .value = value, .help = help, .target = target, .door = Door::command_line};
}
// The same without a name before it.
Option operand(std::string_view shown, std::string_view help, Target target) {
  return {.name = {}, .help = help, .target = target, .door = Door::command_line, .operand = shown};
}
Option wordless(std::string_view name, std::string_view help, bool& target) {
  return {.name = name, .help = help, .target = &target};
}

// What requests have of the circumstances.
template <class Request>
void adopt(Request& request, const Circumstances& at) {
  if constexpr (requires { request.json; }) request.json = at.json;
  if constexpr (requires { request.threads; }) request.threads = at.threads;
  if constexpr (requires { request.progress; }) request.progress = at.progress;
}

// A command whose request is run as it was filled.
template <class Request>
auto running(std::shared_ptr<Request> request, CommandOutput (*run)(const Request&)) {
  return [request = std::move(request), run](const Circumstances& at) {
    adopt(*request, at);
    return run(*request);
  };
}

Command predict_command() {
  auto request = std::make_shared<PredictRequest>();
  Command out{
      .name = "predict",
      .help = "time, memory, calls and energy of one training step",
      .examples = {"headway predict --model llama-3.1-70b --cluster dgx-h100 --gpus 64 --seq 8192 "
                   "\\\n    --global-batch 128 --tp 8 --pp 2 --vpp 5 --recompute selective"},
      .run = running(request, run_predict)};
  out.options = {operand("RUN",
                         "a run file, or a configuration: Megatron-LM script, torchtitan .toml, "
                         "DeepSpeed .json, nanotron .yaml; flags override its fields",
                         &request->run_file)};
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
  add(out.options,
      {path("save", "RUN.toml", "write the run to this file as well", &request->save),
       {.name = "emit",
        .value = "NAME",
        .help = "print the configuration that starts the run: megatron, torchtitan, deepspeed, "
                "nanotron",
        .target = &request->emit,
        .names = launchers}});
  return out;
}

// The searched fields that may be limited.
struct Most {
  std::string name, help;
  std::string_view field;
};
const std::vector<Most>& limited_fields() {
  static const std::vector<Most> all = [] {
    std::vector<Most> out;
    for (const PlanField& field : plan_fields()) {
      if (!field.counts()) continue;
      const std::string name(field.name);
      out.push_back({"max-" + name, "keep " + name + " at most there", field.name});
    }
    return out;
  }();
  return all;
}

Command plan_command() {
  auto request = std::make_shared<PlanRequest>();
  Command out{.name = "plan",
              .help = "the best layout of every legal one, and why it is",
              .examples = {"headway plan --model llama-3.1-70b --cluster dgx-h100 --gpus 256 --seq "
                           "8192 \\\n    --global-batch 512"},
              .run = running(request, run_plan),
              .is_long = true,
              .doing = "searching",
              .things = "layouts"};
  out.options = {operand("RUN.toml", kOverrides, &request->run_file)};
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
  out.options.push_back({.name = "fix",
                         .value = "NAME=VALUE",
                         .help = "keep a searched field at a value, as tp=8",
                         .target = &request->fixed,
                         .form = Form::pairs});
  for (const Most& most : limited_fields()) {
    out.options.push_back({.name = most.name,
                           .value = "N",
                           .help = most.help,
                           .target = &request->most,
                           .form = Form::number_or_text,
                           .range = Range{1, 1'000'000'000'000},
                           .field = most.field});
  }
  add(out.options,
      {{.name = "objective",
        .help = "time (default), throughput, memory, energy, money",
        .target = &request->objective,
        .names = [] { return words(kObjectiveNames); }},
       {.name = "headroom",
        .help = "share of the memory to leave free, as 10%",
        .target = &request->headroom,
        .form = Form::number_or_text},
       {.name = "top",
        .help = "layouts of different kind; default: 5",
        .target = &request->top,
        .range = Range{1, 100}},
       wordless("exhaustive", "price every layout, without bounds", request->exhaustive),
       {.name = "emit",
        .help = "print the configuration of the best: megatron, torchtitan, deepspeed, nanotron",
        .target = &request->emit,
        .names = launchers},
       path("save", "OUT.toml", "write the best as a run file", &request->save),
       path("plot", "DIR", "draw to this folder", &request->plot)});
  return out;
}

Command comms_command() {
  auto request = std::make_shared<CommsRequest>();
  Command out{.name = "comms",
              .help = "the calls of a step: expected, measured from traces, or both compared",
              .examples = {"headway comms --model gpt-neox-1.3b --cluster frontier --gpus 64 --seq "
                           "2048 \\\n    --global-batch 256 --micro-batch 4 --framework deepspeed "
                           "--zero 1"},
              .doing = "reading",
              .things = "bytes"};
  out.options = {operand("FILE", "a run file (.toml), or traces of one run, of any known format",
                         &request->files),
                 path("trace", "TRACE", "traces to compare with what the run is expected to do",
                      &request->traces),
                 {.name = "trace-steps",
                  .value = "N",
                  .help = "steps in the traces; default: found by marks, counts or repetition",
                  .target = &request->trace_steps,
                  .range = Range{1, 1'000'000},
                  .checked = true}};
  add_fields(out.options, request->fields, run_fields());
  add(out.options,
      {path("csv", "OUT.csv", "write the calls to this file", &request->csv),
       path("save", "RUN.sqlite", "write what was measured to a database", &request->save),
       path("plot", "DIR", "draw to this folder", &request->plot),
       {.name = "small",
        .value = "SIZE",
        .help = "messages below this size are small; default: where latency is more than half of "
                "the time",
        .target = &request->small},
       {.name = "clusters",
        .value = "LIST",
        .help = "the same run on each of these clusters, beside one another",
        .target = &request->clusters,
        .names = cluster_names,
        .built_in = "cluster"},
       wordless("study", "the communication study: GPT-NeoX 19M to 13B on Frontier",
                request->study),
       path("report", "DIR",
            "renew the generated tables of DIR/communication.md and the plots beside it",
            &request->report)});
  out.run = [request](const Circumstances& at) -> CommandOutput {
    adopt(*request, at);
    if (!at.traces.empty()) request->traces = at.traces;
    // Both read or work before they judge.
    if (at.refused && (request->study || !request->traces.empty())) return {};
    return run_comms(*request);
  };
  return out;
}

// Settings as flags edit them.
std::vector<Option> limits_edits(LimitsRequest& request) {
  return {{.name = "relax",
           .value = "METHOD",
           .help = "beside each setting, with less communication: local-sgd, diloco, "
                   "streaming-diloco, powersgd, one-bit-adam, asynchronous, local-updates, "
                   "subnetworks, federated, evolution",
           .target = &request.relax},
          {.name = "sync-every", .help = "steps between meetings", .target = &request.sync_every},
          {.name = "loose-level",
           .help = "level from which outwards replicas meet rarely",
           .target = &request.loose_level},
          {.name = "compression",
           .help = "gradient bytes over bytes sent",
           .target = &request.compression},
          {.name = "blocks",
           .help = "blocks with losses of their own",
           .target = &request.blocks,
           .range = kCounts},
          {.name = "submodels",
           .help = "submodels trained apart",
           .target = &request.submodels,
           .range = kCounts},
          {.name = "sample-penalty",
           .help = "data needed, times that of synchronous training",
           .target = &request.sample_penalty},
          {.name = "sites",
           .help = "data centres that share the run",
           .target = &request.sites,
           .range = kCounts},
          {.name = "site-bandwidth",
           .value = "B",
           .help = "of one GPU to other sites, \"1 GB/s\" or unlimited",
           .target = &request.site_bandwidth},
          {.name = "site-distance",
           .value = "KM",
           .help = "between sites: light in glass takes 5 ms for 1000 km",
           .target = &request.site_distance_km}};
}

Command limits_command() {
  auto request = std::make_shared<LimitsRequest>();
  Command out{.name = "limits",
              .help = "how large a training run can become before moving data stops it",
              .examples = {"headway limits --gpu h100-sxm --gpu gb200-nvl72 --explain"},
              .run = running(request, run_limits),
              .is_long = true,
              .doing = "searching",
              .things = "models"};
  out.options = {
      operand("SETTING.toml", "settings of your own", &request->files),
      {.name = "preset",
       .value = "NAME",
       .help = "published comparison: base_dense, base_sparse, grand_dense (default), "
               "grand_sparse, batch; or beyond, relaxed",
       .target = &request->presets},
      {.name = "gpu",
       .value = "G",
       .help = "a machine of `headway list machines`, or a .toml of your own",
       .target = &request->gpus,
       .names = limits::machine_names,
       .built_in = "machine",
       .instead = "; others stand in settings"},
      {.name = "settings",
       .help = "settings described in place, as a setting's .toml",
       .target = &request->settings,
       .door = Door::document},
      wordless("sparse", "models with experts in every setting", request->sparse),
      wordless("as-published", "with the slip of the study's program, to compare numbers",
               request->as_published),
      wordless("explain", "add what binds, what formulas say, and the model's weak points",
               request->explain),
      path("rows", "OUT.csv", "write every model's best layout to this file", &request->rows),
      path("plot", "DIR", "draw to this folder", &request->plot),
      wordless("sensitivity", "how far each number of the machine moves the limits, and which most",
               request->sensitivity),
      wordless("real", "beside each setting, real transformers: the prediction of their steps",
               request->real),
      {.name = "cluster",
       .value = "C",
       .help = "of --real, a name or .toml; default: what the machine stands for",
       .target = &request->cluster,
       .names = cluster_names,
       .built_in = "cluster"},
      {.name = "seq",
       .help = "tokens in a sequence; default: 2048",
       .target = &request->sequence,
       .range = Range{1, 100'000'000},
       .checked = true}};
  add(out.options, limits_edits(*request));
  Option report =
      path("report", "DIR", "renew the tables of DIR/limits.md and the drawings beside it",
           &request->report);
  report.counted = "tables";
  out.options.push_back(std::move(report));
  return out;
}

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
  add_fields(out.options, request->fields, scale_run_fields(), {"tokens"});
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
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

// The fields of a run but those that the axis varies.
std::vector<RunField> run_fields_beside(SweepAxis axis) {
  const auto own = scale_sweep_fields(axis);
  std::vector<RunField> out;
  for (const RunField& field : run_fields()) {
    const bool varied = std::any_of(own.begin(), own.end(),
                                    [&](const RunField& f) { return f.name == field.name; });
    if (!varied) out.push_back(field);
  }
  return out;
}

Command scale_sweep_command(SweepAxis axis) {
  const auto i = static_cast<std::size_t>(axis);
  auto request = std::make_shared<ScaleSweepRequest>();
  request->axis = axis;
  Command out{.name = kSweepNames[i],
              .help = kSweepHelp[i],
              .examples = {"headway scale " + std::string(kSweepNames[i]) +
                           " --model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 \\\n    "
                           "--global-batch 128 --framework fsdp"},
              .run = running(request, run_scale_sweep)};
  out.options = {operand("RUN.toml", kOverrides, &request->run_file)};
  add_fields(out.options, request->fields, scale_sweep_fields(axis));
  bind_names(out.options, axis);
  add_fields(out.options, request->fields, scale_run_fields());
  add_fields(out.options, request->fields, run_fields_beside(axis), kRunNeeds);
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
  return out;
}

Command list_command() {
  auto what = std::make_shared<std::string>();
  Command out{.name = "list",
              .help = "built-in models, clusters, accelerators, machines",
              .examples = {"headway list models"}};
  out.options = {{.name = "what",
                  .help = "models, clusters, accelerators or machines (of limits)",
                  .target = what.get(),
                  .names = list_kinds,
                  .required = true,
                  .operand = "WHAT"}};
  out.run = [what](const Circumstances& at) -> CommandOutput {
    if (at.refused) return {};
    return run_list(*what, at.json);
  };
  return out;
}

Command bench_command() {
  auto request = std::make_shared<BenchRequest>();
  Command out{.name = "bench",
              .help = "the digest of fixed cases, and errors of the cost models",
              .examples = {"headway bench --signature"},
              .run = running(request, run_bench),
              .door = Door::command_line};
  out.options = {
      operand("WHAT", "kernels, collectives, limits or plan", &request->what),
      wordless("signature", "digest of the fixed cases", request->signature),
      path("data", "DIR", "folder with measurements/; default: those built in", &request->data)};
  return out;
}

Command validate_command() {
  auto request = std::make_shared<ValidateRequest>();
  Command out{.name = "validate",
              .help = "predict measured runs and report the error",
              .examples = {"headway validate --by source"},
              .is_long = true,
              .doing = "predicting",
              .things = "rows"};
  out.options = {
      path("corpus", "FILE.csv", "measured runs, given once or more; default: the built-in ones",
           &request->corpora),
      {.name = "by",
       .value = "WHAT",
       .help = "source (default), accelerator, framework, scale, parallelism",
       .target = &request->by,
       .names = [] { return words(kValidateByNames); }},
      path("rows", "OUT.csv", "write every row to this file", &request->rows),
      {.name = "rows",
       .help = "add every row to the document",
       .target = &request->rows_in_document,
       .door = Door::document},
      path("report", "DIR",
           "renew the generated tables of DIR/validation.md and the plots beside it",
           &request->report),
      path("data", "DIR", "folder with measurements/; default: those built in", &request->data)};
  out.run = [request](const Circumstances& at) {
    adopt(*request, at);
    if (!at.data.empty()) request->data = at.data;
    return run_validate(*request);
  };
  return out;
}

Command calibrate_command() {
  auto request = std::make_shared<CalibrateRequest>();
  Command out{.name = "calibrate",
              .help = "fit the cost models to measurements",
              .examples = {"headway calibrate steps",
                           "headway calibrate --cluster dgx-a100-40gb "
                           "--output mine.toml --collectives *.log"},
              .door = Door::command_line,
              .doing = "fitting",
              .things = "times"};
  out.options = {
      operand("WHAT", "steps (default), intervals, kernels, collectives", &request->what),
      path("data", "DIR", "folder with measurements/; default: those built in", &request->data),
      wordless("write", "renew DIR/calibration/*.toml of a checkout; default: data",
               request->write),
      path("collectives", "LOG...",
           "fit a cluster's network on nccl-tests or OSU logs, traces, or folders of them",
           &request->logs),
      path("cluster", "C", "the cluster of the logs", &request->cluster),
      path("output", "OUT.toml", "write the fitted cluster; default: print it", &request->output),
      {.name = "gpus-per-node",
       .value = "N",
       .help = "ranks on a node; default: as a log lists its hosts, else as the cluster has",
       .target = &request->gpus_per_node,
       .range = Range{1, 1'000'000},
       .checked = true}};
  out.run = [request](const Circumstances& at) {
    adopt(*request, at);
    request->date = at.date;
    return run_calibrate(*request);
  };
  return out;
}

}  // namespace

std::span<const CommandRow> command_rows() {
  static const std::vector<CommandRow> rows = {
      {"predict", predict_command}, {"plan", plan_command},     {"comms", comms_command},
      {"scale", scale_command},     {"limits", limits_command}, {"validate", validate_command},
      {"list", list_command},       {"bench", bench_command},   {"calibrate", calibrate_command}};
  return rows;
}

}  // namespace headway

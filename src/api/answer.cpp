#include "api/answer.hpp"

#include <algorithm>

#include "api/json_request.hpp"
#include "api/plan.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "fit/validation/validation.hpp"
#include "launch/launch.hpp"
#include "limits/load.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

// Room for any request by hand or by program; a whole model described in place takes kilobytes.
constexpr std::size_t kLargestRequest = std::size_t{1} << 20;

template <std::size_t N>
std::vector<std::string> words(const std::array<std::string_view, N>& names) {
  return {names.begin(), names.end()};
}

using Ask = CommandOutput (*)(JsonRequest&, const Problems&, const AnswerOptions&);

// Where the request is wrong already, the command only says what else is: it is stopped before it
// works.
Progress progress_for(const Problems& problems, const AnswerOptions& options) {
  if (problems.empty()) return options.progress;
  return [](std::size_t, std::size_t) { return false; };
}

// What every request for work has in common, and no member besides those that were asked for.
template <class Request>
void complete(Request& request, JsonRequest& json, const Problems& problems,
              const AnswerOptions& options) {
  json.reject_unknown();
  request.json = true;
  request.progress = progress_for(problems, options);
  if constexpr (requires { request.threads; }) request.threads = options.threads;
}

CommandOutput ask_predict(JsonRequest& json, const Problems&, const AnswerOptions&) {
  PredictRequest request;
  request.fields = json.fields(run_fields());
  request.emit = json.name_of("emit", words(kLauncherNames));
  request.json = true;
  json.reject_unknown();
  return run_predict(request);
}

CommandOutput ask_plan(JsonRequest& json, const Problems& problems, const AnswerOptions& options) {
  PlanRequest request;
  request.fields = json.fields(run_fields());
  for (const auto& [name, value] : json.pairs("fix")) request.fixed.push_back(name + "=" + value);
  for (const std::string& name : plan_counts()) {
    const std::string limit = "max-" + name;
    const std::string most = json.text_or_number(limit);
    if (!most.empty()) request.most.push_back({name, most, member(limit)});
  }
  if (const auto objective = json.name_of("objective", words(kObjectiveNames));
      !objective.empty()) {
    request.objective = objective;
  }
  request.headroom = json.text_or_number("headroom");
  if (const auto top = json.whole("top", 1, 100)) request.top = static_cast<std::size_t>(*top);
  request.exhaustive = json.flag("exhaustive");
  request.emit = json.name_of("emit", words(kLauncherNames));
  complete(request, json, problems, options);
  return run_plan(request);
}

CommandOutput ask_comms(JsonRequest& json, const Problems& problems, const AnswerOptions& options) {
  CommsRequest request;
  request.fields = json.fields(run_fields());
  request.traces = options.traces;
  request.small = json.text("small");
  request.study = json.flag("study");
  if (const auto steps = json.whole("trace-steps", 1, 1'000'000)) {
    request.trace_steps = static_cast<double>(*steps);
  }
  complete(request, json, problems, options);
  if (!problems.empty() && (request.study || !request.traces.empty())) return {};
  return run_comms(request);
}

CommandOutput ask_scale_run(JsonRequest& json) {
  ScaleRunRequest request;
  request.fields = json.fields(scale_run_fields());
  for (GivenField& field : json.fields(run_fields())) request.fields.push_back(std::move(field));
  request.json = true;
  json.reject_unknown();
  return run_scale_run(request);
}

// Models and clusters in a list are built-in ones, for other names may be files: a list with
// another is refused and taken out.
void check_names(SweepAxis axis, RunRequest& fields, JsonRequest& json) {
  if (axis != SweepAxis::model && axis != SweepAxis::hardware) return;
  const bool models = axis == SweepAxis::model;
  const auto names = models ? model_names() : cluster_names();
  std::erase_if(fields, [&](const GivenField& field) {
    if (field.name != "at") return false;
    bool refused = false;
    std::size_t begin = 0;
    while (begin <= field.text.size()) {
      const std::size_t end = std::min(field.text.find(',', begin), field.text.size());
      std::string name = field.text.substr(begin, end - begin);
      name.erase(0, name.find_first_not_of(' '));
      name.erase(name.find_last_not_of(' ') + 1);
      begin = end + 1;
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      refused = true;
      json.fail("at",
                "'" + printable(name) + "' is no built-in " + (models ? "model" : "cluster") +
                    suggestion(name, names),
                Trouble::unknown);
    }
    return refused;
  });
}

CommandOutput ask_scale(JsonRequest& json, const Problems& problems, const AnswerOptions& options) {
  std::vector<std::string> sweeps = words(kSweepNames);
  sweeps.insert(sweeps.end(), {"run", "published"});
  const std::string which = json.name_of("sweep", sweeps);
  if (which.empty()) {
    if (problems.empty())
      json.fail("sweep", "is missing; legal: " + join(sweeps, ", "), Trouble::missing);
    return {};
  }
  if (which == "run") return ask_scale_run(json);
  if (which == "published") {
    json.reject_unknown();
    if (!problems.empty()) return {};
    ScalePublishedRequest request;
    request.json = true;
    return run_scale_published(request);
  }
  ScaleSweepRequest request;
  const auto axis = std::find(kSweepNames.begin(), kSweepNames.end(), which);
  request.axis = static_cast<SweepAxis>(axis - kSweepNames.begin());
  request.fields = json.fields(scale_sweep_fields(request.axis));
  check_names(request.axis, request.fields, json);
  for (const auto more : {scale_run_fields(), run_fields()}) {
    for (GivenField& field : json.fields(more)) request.fields.push_back(std::move(field));
  }
  complete(request, json, problems, options);
  return run_scale_sweep(request);
}

CommandOutput ask_limits(JsonRequest& json, const Problems& problems,
                         const AnswerOptions& options) {
  LimitsRequest request;
  request.presets = json.texts("preset");
  const auto machines = limits::machine_names();
  for (std::string& name : json.texts("gpu")) {
    if (std::find(machines.begin(), machines.end(), name) != machines.end()) {
      request.gpus.push_back(std::move(name));
    } else {
      json.fail("gpu",
                "'" + printable(name) + "' is no built-in machine" + suggestion(name, machines) +
                    "; others stand in settings",
                Trouble::unknown);
    }
  }
  const auto settings = json.objects("settings");
  for (std::size_t i = 0; i < settings.size(); ++i) {
    request.settings.push_back({"settings[" + std::to_string(i) + "]", *settings[i]});
  }
  request.sparse = json.flag("sparse");
  request.as_published = json.flag("as-published");
  request.explain = json.flag("explain");
  request.sensitivity = json.flag("sensitivity");
  request.real = json.flag("real");
  request.cluster = json.name_of("cluster", cluster_names());
  request.sequence = json.whole("seq", 1, 100'000'000).value_or(0);
  request.relax = json.text("relax");
  request.sync_every = json.number("sync-every");
  request.compression = json.number("compression");
  request.sample_penalty = json.number("sample-penalty");
  request.blocks = json.whole("blocks", 1, 1'000'000'000);
  request.submodels = json.whole("submodels", 1, 1'000'000'000);
  if (const auto level = json.text("loose-level"); !level.empty()) request.loose_level = level;
  request.sites = json.whole("sites", 1, 1'000'000'000).value_or(0);
  request.site_bandwidth = json.text("site-bandwidth");
  request.site_distance_km = json.number("site-distance").value_or(0);
  complete(request, json, problems, options);
  return run_limits(request);
}

CommandOutput ask_validate(JsonRequest& json, const Problems& problems,
                           const AnswerOptions& options) {
  ValidateRequest request;
  if (const auto by = json.name_of("by", words(kValidateByNames)); !by.empty()) request.by = by;
  request.rows_in_document = json.flag("rows");
  request.data = options.data;
  complete(request, json, problems, options);
  return run_validate(request);
}

CommandOutput ask_list(JsonRequest& json, const Problems& problems, const AnswerOptions&) {
  const std::vector<std::string> kinds = {"models", "clusters", "accelerators", "machines"};
  const std::string what = json.name_of("what", kinds);
  json.reject_unknown();
  if (what.empty() && problems.empty())
    json.fail("what", "is missing; legal: " + join(kinds, ", "), Trouble::missing);
  if (!problems.empty()) return {};
  return run_list(what, /*json=*/true);
}

struct Command {
  std::string_view name;
  Ask ask;
  bool is_long;
  std::string_view unit;
};
constexpr std::array<Command, kAnsweredCommands.size()> kCommands = {{
    {"predict", ask_predict, false, ""},
    {"plan", ask_plan, true, "layouts"},
    {"comms", ask_comms, false, "bytes"},
    {"scale", ask_scale, true, "points"},
    {"limits", ask_limits, true, "models"},
    {"validate", ask_validate, true, "rows"},
    {"list", ask_list, false, ""},
}};

const Command* command_of(std::string_view name) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                  [&](const Command& each) { return each.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

// What a request may describe in place, by which its problems are named.
std::vector<std::string> described_in(const Node& root) {
  std::vector<std::string> out = {"model", "cluster"};
  const Node* settings = root.find("settings");
  const std::size_t count =
      settings != nullptr && settings->array() != nullptr ? settings->array()->size() : 0;
  for (std::size_t i = 0; i < count; ++i) out.push_back("settings[" + std::to_string(i) + "]");
  return out;
}

}  // namespace

CommandOutput answer(std::string_view command, std::string_view body,
                     const AnswerOptions& options) {
  const Command* asked = command_of(command);
  if (asked == nullptr) {
    return {.problems = {{"command",
                          "'" + printable(command) +
                              "' is not known; legal: " + join(words(kAnsweredCommands), ", "),
                          Trouble::unknown}}};
  }
  if (body.size() > kLargestRequest) return {.problems = {{"request", "is larger than 1 MiB"}}};
  const auto document = parse_json(body, "request");
  if (!document) return {.problems = document.problems()};
  Problems problems;
  JsonRequest json(document->root, problems);
  CommandOutput output = asked->ask(json, problems, options);
  const auto described = described_in(document->root);
  output.problems = by_member(std::move(output.problems), described);
  if (problems.empty()) return output;
  // What the command says besides: not that it was stopped, nor that a refused member is missing.
  for (Problem& problem : output.problems) {
    const bool said = std::any_of(problems.begin(), problems.end(), [&](const Problem& other) {
      return other.where() == problem.where();
    });
    if (!said && problem.where() != Where(std::string(command)))
      problems.push_back(std::move(problem));
  }
  return {.problems = std::move(problems)};
}

bool is_long(std::string_view command) {
  const Command* found = command_of(command);
  return found != nullptr && found->is_long;
}

std::string_view progress_unit(std::string_view command) {
  const Command* found = command_of(command);
  return found != nullptr ? found->unit : "";
}

}  // namespace headway

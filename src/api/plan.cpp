// headway plan.
#include "report/plan.hpp"

#include <algorithm>
#include <charconv>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/text.hpp"
#include "launch/launch.hpp"
#include "platform/output.hpp"
#include "report/launch.hpp"
#include "report/shard/plan.hpp"
#include "study/plan/space/fields.hpp"

namespace headway {
namespace {

// The launcher that is asked for; it tells the framework of a run without one.
Result<std::optional<Launcher>> settled_launcher(PlanRequest& request) {
  if (request.emit.empty()) return std::optional<Launcher>();
  const auto launcher = launcher_named(request.emit);
  if (!launcher) {
    return Problem{FieldName("emit"), not_known(request.emit, launcher_names()), Trouble::unknown};
  }
  const bool given = std::any_of(request.fields.begin(), request.fields.end(),
                                 [](const GivenField& field) { return field.name == "framework"; });
  if (!given && request.run_file.empty()) {
    request.fields.push_back(
        {"framework", std::string(row_of(*launcher).framework), FieldName("emit")});
  }
  return launcher;
}

// The field of the space that a field of a run is, by its name or by what turns it off; null: none.
const PlanField* searched_field(std::string_view name) {
  if (const PlanField* same = plan_field(name)) return same;
  const auto fields = plan_fields();
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const PlanField& field) {
    return field.row->field.name == name;
  });
  return found == fields.end() ? nullptr : &*found;
}

// A field that was given beside a run file is kept: "no-sp" as "sp" off.
PlanFilter kept(const PlanField& field, const GivenField& given) {
  PlanFilter out{std::string(field.name), given.text, false, given.where};
  if (field.row->field.form.kind == FieldForm::Kind::flag) {
    out.value = (given.text != "false") == field.row->field.form.sets ? "on" : "off";
  }
  return out;
}

// What of the request is given, fixed or limited, as filters of the space.
std::vector<PlanFilter> filters_of(const PlanRequest& request, Problems& problems) {
  std::vector<PlanFilter> out;
  for (const std::string& text : request.fixed) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      problems.push_back({FieldName("fix"), "'" + printable(text) + "' must be NAME=VALUE, as tp=8",
                          Trouble::malformed});
      continue;
    }
    out.push_back({text.substr(0, equals), text.substr(equals + 1), false,
                   FieldName("fix", printable(text))});
  }
  const auto add = [&](PlanFilter filter, const GivenField& field) {
    for (FieldName& name : filter.where.fields) name.given = printable(field.text);
    out.push_back(std::move(filter));
  };
  for (const GivenField& field : request.fields) {
    if (const PlanField* searched = searched_field(field.name)) add(kept(*searched, field), field);
  }
  for (const GivenField& field : request.most) {
    add({field.name, field.text, true, field.where}, field);
  }
  return out;
}

// What is best, where the name is one.
Problems objective_problems(std::string_view name) {
  if (std::find(kObjectiveNames.begin(), kObjectiveNames.end(), name) != kObjectiveNames.end()) {
    return {};
  }
  return {{FieldName("objective"), not_known(name, words(kObjectiveNames)), Trouble::unknown}};
}

// "10%" or "0.1".
double headroom_of(std::string_view text, Problems& problems) {
  if (text.empty()) return 0;
  const bool hundredths = text.ends_with('%');
  std::string_view digits = hundredths ? text.substr(0, text.size() - 1) : text;
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  double value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (hundredths) value /= 100;
  if (error != std::errc() || end != digits.data() + digits.size() || !(value >= 0 && value < 1)) {
    problems.push_back({FieldName("headroom"),
                        "'" + printable(text) +
                            "' must be a share of the memory from "
                            "0 up to, but not including, 100%, as 10%",
                        Trouble::malformed});
    return 0;
  }
  return value;
}

// What is asked, or everything that is wrong with the request.
Result<PlanTask> task_of(const PlanRequest& request) {
  Problems problems;
  auto given = read_run_request(request.run_file, request.fields);
  if (!given) return given.problems();
  RunRequest& fields = given.value();
  // The layout of a run file is what is searched anew; what is given beside it is kept.
  PlanTask task;
  std::string ignored;
  std::erase_if(fields, [&](const GivenField& field) {
    const PlanField* searched = searched_field(field.name);
    const auto same = [&](const GivenField& asked) {
      return searched_field(asked.name) == searched;
    };
    if (searched != nullptr && std::none_of(request.fields.begin(), request.fields.end(), same)) {
      ignored += (ignored.empty() ? "" : ", ") + field.name;
    }
    return searched != nullptr;
  });
  if (!ignored.empty()) {
    task.notes.push_back("searched anew, though in the file: " + ignored +
                         "; --fix NAME=VALUE keeps one");
  }
  const auto gpus = std::find_if(fields.begin(), fields.end(),
                                 [](const GivenField& field) { return field.name == "gpus"; });
  if (gpus == fields.end()) {
    problems.push_back(
        {FieldName("gpus"), "is missing: on how many accelerators", Trouble::missing});
  }
  task.filters = filters_of(request, problems);
  append(problems, filter_problems(task.filters));
  append(problems, objective_problems(request.objective));
  task.objective = request.objective;
  task.headroom = headroom_of(request.headroom, problems);
  task.how.top = request.top;
  task.how.exhaustive = request.exhaustive;
  task.how.threads = request.threads;
  task.how.progress = request.progress;
  if (request.top < 1 || request.top > 100) {
    problems.push_back({FieldName("top"), "must be from 1 to 100"});
  }
  // The ZeRO stage is searched: what a run would assume of it is not asked for.
  fields.push_back({"zero", "0", "plan"});
  auto run = make_unsplit_run(fields);
  if (!run) append(problems, run.problems());
  if (!problems.empty()) return problems;
  task.run = std::move(run).value();
  const std::vector<std::string>& of_model = task.run.model.notes;
  task.notes.insert(task.notes.end(), of_model.begin(), of_model.end());
  std::erase_if(task.run.given, [](const GivenField& field) { return field.name == "zero"; });
  return task;
}

// The parts of the space that were searched before, where they were.
Result<std::vector<PlanPart>> parts_of(const Division& division) {
  std::vector<PlanPart> out;
  if (division.parts == nullptr) return out;
  for (const PartLines& lines : *division.parts) {
    auto part = read_plan_part(lines);
    if (!part) return part.problems();
    out.push_back(std::move(part).value());
  }
  return out;
}

CommandOutput run_part(const PlanRequest& request) {
  auto task = task_of(request);
  if (!task) return {.problems = task.problems()};
  auto known = parts_of(request.division);  // of the other parts, those that are done
  if (!known) return {.problems = known.problems()};
  task->parts = std::move(known).value();
  std::shared_ptr<void> alone;
  std::shared_ptr<void>& shared = request.division.shared ? *request.division.shared : alone;
  auto kept = std::static_pointer_cast<PlanPartsKept>(shared);
  const auto part = plan_part(std::move(task).value(), *request.division.only, kept);
  shared = std::move(kept);
  if (!part) return {.problems = part.problems()};
  *request.division.into = plan_part_lines(*part);
  return {};
}

}  // namespace

Result<Plan> make_plan(const PlanRequest& request, std::function<void(const Plan&)> found) {
  auto task = task_of(request);
  if (!task) return task.problems();
  auto parts = parts_of(request.division);
  if (!parts) return parts.problems();
  task->parts = std::move(parts).value();
  task->found = std::move(found);
  task->sooner = request.json;
  return plan_of(std::move(task).value());
}

CommandOutput run_plan(const PlanRequest& asked) {
  PlanRequest request = asked;
  const auto launcher = settled_launcher(request);
  if (!launcher) return {.problems = launcher.problems()};
  if (request.division.only) return run_part(request);
  std::string shown;
  std::function<void(const Plan&)> found;
  const bool alone = request.emit.empty() && request.save.empty() && request.plot.empty();
  if (request.begun && alone) {
    found = [&](const Plan& begun) {
      request.begun(request.json ? plan_json(begun) : shown = plan_text_begin(begun));
    };
  }
  const auto plan = make_plan(request, std::move(found));
  if (!plan) return {.problems = plan.problems()};

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  if (!request.plot.empty() && !plan->front.empty()) {
    files.push_back({request.plot + "/plan.svg", plan_svg(*plan)});
  }
  if (!request.save.empty() && !plan->best.empty()) {
    files.push_back({request.save, run_file_text(plan->best.front().run, request.save)});
  }
  std::string text = request.json ? plan_json(*plan) : plan_text(*plan);
  if (*launcher && !plan->best.empty()) {
    const auto written = launch_files(plan->best.front().run, **launcher);
    if (!written) return {.problems = written.problems()};
    text = request.json ? launch_json(**launcher, *written) : launch_text(*written);
  }
  text.erase(0, shown.size());
  Problems problems = write_files(files, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  Problems warnings;
  if (!plan->proven && (*launcher || !request.save.empty())) {
    warnings.push_back({"plan", "stopped: what is written is the best so far, not proven"});
  }
  return {.text = std::move(text),
          .exit_code = plan->best.empty() ? 1 : 0,
          .warnings = std::move(warnings)};
}

namespace {

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

}  // namespace

Command plan_command() {
  auto request = std::make_shared<PlanRequest>();
  Command out{.name = "plan",
              .help = "the best layout of every legal one, and why it is",
              .examples = {"headway plan --model llama-3.1-70b --cluster dgx-h100 --gpus 256 --seq "
                           "8192 \\\n    --global-batch 512"},
              .run = running(request, run_plan),
              .is_long = true,
              .divides = true,
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
        .help = "what is best",
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
        .help = "print the configuration of the best",
        .target = &request->emit,
        .names = launcher_names},
       path("save", "OUT.toml", "write the best as a run file", &request->save),
       path("plot", "DIR", "draw to this folder", &request->plot)});
  return out;
}

}  // namespace headway

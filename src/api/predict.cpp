// predict: from a request to a forecast, or to the configuration that starts the run.
#include "forecast/predict/predict.hpp"

#include <algorithm>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "fit/own/runs.hpp"
#include "launch/launch.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "platform/paths.hpp"
#include "report/launch.hpp"
#include "report/list.hpp"
#include "report/predict.hpp"
#include "study/plan/fitting.hpp"
#include "trace/unknown.hpp"

namespace headway {
namespace {

CommandOutput bad(Problems problems) {
  return {.problems = std::move(problems)};
}

bool gives(const RunRequest& fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const GivenField& field) { return field.name == name; });
}

// Opens what a script names: beside the script, or from the current folder.
LaunchOpener opener_beside(const std::string& path) {
  return [folder = folder_of(path)](const std::string& name) -> std::optional<std::string> {
    for (const std::string& place :
         {in_folder(folder, name), in_folder(folder, file_name(name)), name}) {
      auto text = read_file(place);
      if (text) return std::move(text).value();
    }
    return std::nullopt;
  };
}

// "Megatron-LM script, torchtitan .toml"
std::string launcher_forms() {
  std::vector<std::string> forms;
  for (const LauncherRow& row : kLaunchers) forms.emplace_back(row.form);
  return join(forms, ", ");
}

// Whether a file is meant as TOML or JSON, right or wrong.
bool is_document(const std::string& path, const std::string& text) {
  if (path.ends_with(".toml") || path.ends_with(".json")) return true;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos || text[first] == '{' || parse_toml(text, path).ok();
}

// The fields of a file: a run file, or a framework's configuration.
struct FileFields {
  LaunchRequest request;
  bool is_configuration = false;
};

Result<FileFields> fields_of(const std::string& path, const RunRequest& flags) {
  const auto text = read_file(path);
  if (text) {
    const std::string shown = printable(path, 4096);
    if (const auto launcher = launcher_of(*text, shown)) {
      std::int64_t accelerators = 0;
      for (const GivenField& flag : flags) {
        if (flag.name == "gpus") accelerators = whole_number(flag.text).value_or(0);
      }
      auto request = read_launch(*text, shown, *launcher, accelerators, opener_beside(path));
      if (!request) return request.problems();
      return FileFields{std::move(request).value(), true};
    }
    if (!is_document(path, *text)) {
      return Problem{shown,
                     "is no run file (TOML or JSON) and no configuration that is known (" +
                         launcher_forms() + "); it looks like " + looks_like(*text, path),
                     Trouble::unknown};
    }
  }
  auto fields = read_run_file(path, flags);  // says what is wrong with a file that is neither
  if (!fields) return fields.problems();
  FileFields out;
  out.request.fields = std::move(fields).value();
  return out;
}

// "model" or "cluster" where a document describes one: a run file names what it trains, on what and
// how many; a cluster has levels, or an accelerator; a model has a shape. Empty: a run file.
std::string described_kind(const Node& root) {
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return root.find(name) != nullptr; });
  };
  if (has({"levels", "accelerator"})) return "cluster";
  if (has({"architectures", "model_type", "hidden_size", "hidden", "n_embd", "d_model"}))
    return "model";
  const Node* base = root.find("base");
  const auto* name = base != nullptr ? std::get_if<std::string>(&base->value) : nullptr;
  if (name == nullptr) return "";
  const auto clusters = cluster_names();
  return std::find(clusters.begin(), clusters.end(), *name) != clusters.end() ? "cluster" : "model";
}

// The fields of a text that came with a request: as of a file, beside which nothing lies.
Result<FileFields> fields_of_text(const std::string& text) {
  const std::string shown = "of";
  FileFields out;
  if (const auto launcher = launcher_of(text, shown)) {
    auto request = read_launch(text, shown, *launcher);
    if (!request) return request.problems();
    return FileFields{std::move(request).value(), true};
  }
  if (!is_document(shown, text)) {
    return Problem{shown,
                   "is no run file (TOML or JSON) and no configuration that is known (" +
                       launcher_forms() + "); it looks like " + looks_like(text, shown),
                   Trouble::unknown};
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const auto document = first != std::string::npos && text[first] == '{' ? parse_json(text, shown)
                                                                         : parse_toml(text, shown);
  if (!document) return document.problems();
  if (const std::string kind = described_kind(document->root); !kind.empty()) {
    out.request.fields.emplace_back(kind, std::string(kind), FieldName(kind),
                                    std::make_shared<const Document>(*document));
    return out;
  }
  auto fields = run_request_from(document->root, shown);
  if (!fields) return fields.problems();
  out.request.fields = std::move(fields).value();
  return out;
}

// Slots are numbers for who draws them, not a table to read.
Problems timeline_problems(const PredictRequest& request) {
  if (!request.timeline || (request.json && request.emit.empty())) return {};
  return {{FieldName("timeline"), "is part of the JSON of a forecast; give --json, and no --emit",
           Trouble::illegal}};
}

// A configuration has no times.
Problems ops_problems(const PredictRequest& request) {
  if (!request.ops || request.emit.empty()) return {};
  return {{FieldName("ops"), "are of a forecast; give no --emit", Trouble::illegal}};
}

// A configuration starts a run on one machine, and ops are those of one.
Problems far_problems(const PredictRequest& request, const RequestedRun& run) {
  Problems out;
  if (run.far == nullptr) return out;
  const auto refuse = [&](const char* name) {
    out.push_back({FieldName(name),
                   "is of one machine, and far-stages stand on another; leave "
                   "either out",
                   Trouble::unsupported});
  };
  if (!request.emit.empty()) refuse("emit");
  if (request.ops) refuse("ops");
  return out;
}

// What was measured of the run.
std::string beside(Seconds measured, Seconds predicted) {
  return "measured: " + to_text(measured) + " a step, " +
         formatted("%+.1f %%", 100 * (measured / predicted - 1)) + " of what is predicted";
}

Problems save(const RequestedRun& run, const std::string& path) {
  if (path.empty()) return {};
  const std::string text = run_file_text(run, path);
  if (!parse_toml(text, path)) {
    return {{FieldName("save"),
             "the name of a file of this run is no UTF-8; a run file cannot hold it"}};
  }
  return write_files({{path, text}});
}

}  // namespace

CommandOutput run_given(const std::string& text) {
  auto given = fields_of_text(text);
  if (!given) return bad(given.problems());
  RunRequest& fields = given->request.fields;
  if (given->request.micro_batches > 0) settle_batch(given->request.micro_batches, fields);
  return {.text = given_json(fields, given->request.notes)};
}

CommandOutput run_predict(const PredictRequest& request) {
  // The fields: those of the file, overridden by the flags.
  FileFields file;
  if (!request.run_file.empty()) {
    auto from_file = fields_of(request.run_file, request.fields);
    if (!from_file) return bad(from_file.problems());
    file = std::move(from_file).value();
  }
  RunRequest fields = std::move(file.request.fields);
  if (gives(request.fields, "dp") && !gives(request.fields, "gpus") && file.is_configuration) {
    std::erase_if(fields, [](const GivenField& field) { return field.name == "gpus"; });
  }
  fields.insert(fields.end(), request.fields.begin(), request.fields.end());
  if (file.request.micro_batches > 0) settle_batch(file.request.micro_batches, fields);

  // What to write, where a configuration is asked for; it tells the framework of a run without one.
  const auto launcher = launcher_named(request.emit);
  if (!request.emit.empty() && !launcher) {
    return bad({{FieldName("emit"), not_known(request.emit, launcher_names()), Trouble::unknown}});
  }
  if (launcher && !gives(fields, "framework")) {
    fields.push_back({"framework", std::string(row_of(*launcher).framework), FieldName("emit")});
  }

  // A legal run, or everything that is wrong with it.
  auto run = make_run(fields, Types::two);
  Problems problems = run ? Problems{} : run.problems();
  if (file.is_configuration && !gives(fields, "gpus") && !gives(fields, "dp")) {
    problems.push_back({request.run_file, "does not say on how many accelerators; give --gpus"});
  }
  append(problems, timeline_problems(request));
  append(problems, ops_problems(request));
  if (run) append(problems, far_problems(request, *run));
  if (run && run->layout.tp > 1) append(problems, file.request.with_tensor_parallelism);
  if (!problems.empty()) return bad(std::move(problems));

  if (launcher) {
    const auto files = launch_files(*run, *launcher);
    if (!files) return bad(files.problems());
    problems = save(*run, request.save);
    if (!problems.empty()) return bad(std::move(problems));
    return {.text = request.json ? launch_json(*launcher, *files) : launch_text(*files)};
  }
  auto forecast = predict(*run);
  if (!forecast) return bad(forecast.problems());
  if (!forecast->fits) forecast->notes.push_back(what_would_fit(*run, *forecast));
  for (std::string& note : file.request.notes) forecast->notes.push_back(std::move(note));
  if (!request.run_file.empty() && !file.is_configuration) {
    const auto document = read_document(request.run_file);
    const auto measured = document ? measured_step(*document, *run)
                                   : Result<std::optional<Seconds>>(document.problems());
    if (!measured) return bad(measured.problems());
    if (*measured) forecast->notes.push_back(beside(**measured, forecast->step_time));
  }
  problems = save(*run, request.save);
  if (!problems.empty()) return bad(std::move(problems));
  std::optional<OpTable> ops;
  if (request.ops) {
    const auto calibration = calibration_for(*run);
    if (!calibration) return bad(calibration.problems());
    ops = op_table(*run, *calibration);
  }
  const OpTable* table = ops ? &*ops : nullptr;
  return {.text = request.json ? predict_json(*run, *forecast, request.timeline, table)
                               : predict_text(*run, *forecast, table),
          .exit_code = forecast->fits ? 0 : 1};
}

Command predict_command() {
  static const std::string of_a_file =
      "a run file, or a configuration: " + launcher_forms() + "; flags override its fields";
  auto request = std::make_shared<PredictRequest>();
  Command out{
      .name = "predict",
      .help = "time, memory, calls and energy of one training step",
      .examples = {"headway predict --model llama-3.1-70b --cluster dgx-h100 --gpus 64 --seq 8192 "
                   "\\\n    --global-batch 128 --tp 8 --pp 2 --vpp 5 --recompute selective"},
      .run = running(request, run_predict)};
  out.options = {operand("RUN", of_a_file, &request->run_file)};
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
  add_fields(out.options, request->fields, far_fields());
  add(out.options, {path("save", "RUN.toml", "write the run to this file as well", &request->save),
                    {.name = "emit",
                     .value = "NAME",
                     .help = "print the configuration that starts the run",
                     .target = &request->emit,
                     .names = launcher_names},
                    wordless("timeline", "with --json: the slots of the pipeline, placed in time",
                             request->timeline),
                    wordless("ops", "each kernel and call, and what binds it", request->ops)});
  return out;
}

}  // namespace headway

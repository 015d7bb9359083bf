#include "study/limits/question.hpp"

#include <algorithm>
#include <utility>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "limits/forms/low_communication.hpp"
#include "platform/files.hpp"
#include "platform/paths.hpp"

namespace headway {
namespace {

const char* const kDefaultComparison = "grand_dense";
const char* const kDefaultRealMachine = "h100-sxm";
constexpr std::int64_t kMostSequence = 100'000'000;

bool is_path(const std::string& text) {
  return text.ends_with(".toml") || text.find('/') != std::string::npos;
}

// Built-in names, and paths to a user's own files; a relative path in a file is meant from there.
Result<Document> open_machine(const std::string& name, const std::string& from,
                              const Where& where) {
  if (!is_path(name)) {
    auto found = limits::open_embedded_machine(name, from, where);
    if (found) return found;
    Problems problems = found.problems();
    problems.back().message += " (a file of your own must end in .toml)";
    return problems;
  }
  return read_document(in_folder(folder_of(from), name));
}

Result<limits::Comparison> from_file(const std::string& file) {
  if (!file.ends_with(".toml")) {
    return Problem{printable(file), "is no setting: its name must end in .toml"};
  }
  const Result<Document> document = read_document(file);
  if (!document) return document.problems();
  return limits::read_comparison(*document, stem_of(file), open_machine);
}

Result<limits::Comparison> from_machine(const std::string& name) {
  const Result<Document> document = open_machine(name, "", FieldName("gpu"));
  if (!document) return document.problems();
  auto machine = limits::read_machine(*document, stem_of(name), open_machine);
  if (!machine) return machine.problems();
  limits::Comparison out;
  out.name = machine->name;
  out.title = machine->title;
  out.settings.push_back(limits::setting_on(std::move(machine).value()));
  return out;
}

// Adds what was read, with names that stand once; a setting that is there already is left out.
void add(limits::Comparison& all, Result<limits::Comparison> more, Problems& problems) {
  if (!more) return append(problems, more.problems());
  if (!all.title.empty()) all.title += "; ";
  all.title += more->title;
  for (limits::Setting& setting : more.value().settings) {
    const auto taken = [&](const std::string& name) {
      return std::any_of(all.settings.begin(), all.settings.end(),
                         [&](const limits::Setting& other) { return other.name == name; });
    };
    if (taken(setting.name)) setting.name += " (" + more->name + ")";
    for (int i = 2; taken(setting.name); ++i) setting.name += " " + std::to_string(i);
    all.settings.push_back(std::move(setting));
  }
}

}  // namespace

std::vector<std::string> relaxation_methods() {
  return limits::relaxation_names();
}

Result<limits::Comparison> limits_settings(const LimitsQuestion& question) {
  Problems problems;
  limits::Comparison out;
  std::vector<std::string> presets = question.presets, gpus = question.gpus;
  if (presets.empty() && gpus.empty() && question.files.empty() && question.settings.empty()) {
    if (question.real) {
      gpus.emplace_back(kDefaultRealMachine);
    } else {
      presets.emplace_back(kDefaultComparison);
    }
  }
  if (question.sequence < 0 || question.sequence > kMostSequence) {
    problems.push_back({FieldName("seq"), "must be from 1 to " + std::to_string(kMostSequence)});
  }
  if (question.months && !(*question.months >= 1e-4 && *question.months <= 1200)) {
    problems.push_back({FieldName("months"), "must be from 0.0001 to 1200"});
  }
  for (const std::string& preset : presets) add(out, limits::embedded_comparison(preset), problems);
  for (const std::string& machine : gpus) add(out, from_machine(machine), problems);
  for (const std::string& file : question.files) add(out, from_file(file), problems);
  for (const Document& setting : question.settings) {
    add(out, limits::read_comparison(setting, setting.file), problems);
  }
  for (limits::Setting& setting : out.settings) {
    if (question.sequence > 0) setting.sequence = question.sequence;
    if (question.months) setting.duration = Seconds(*question.months * limits::kSecondsOfAMonth);
    if (question.sparse) setting.sparsity.sparse = true;
    if (question.as_published) setting.as_published = true;
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway

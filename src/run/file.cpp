// Run files: the fields of a run as a TOML or JSON table.
#include <algorithm>

#include "base/document/toml_text.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"
#include "platform/paths.hpp"
#include "run/far_stages.hpp"
#include "run/madmax.hpp"
#include "run/run.hpp"

namespace headway {
namespace {

// Whether the field names a file or folder, and no built-in model or cluster.
bool names_file(const GivenField& field) {
  using Kind = FieldForm::Kind;
  const auto fields = all_fields();
  const auto known = std::find_if(fields.begin(), fields.end(),
                                  [&](const RunField& each) { return each.name == field.name; });
  if (known == fields.end() || field.document != nullptr) return false;
  const Kind kind = known->form.kind;
  return kind == Kind::own_runs ||
         ((kind == Kind::model || kind == Kind::cluster) &&
          (field.text.find('/') != std::string::npos || field.text.ends_with(".json") ||
           field.text.ends_with(".toml")));
}

// The same file as `file` (from the current folder), named from the folder of `path`.
std::string seen_from(const std::string& path, const std::string& file) {
  if (path.empty() || file.starts_with('/')) return file;
  const auto whole = whole_path(path);
  const auto seen = whole ? path_from(folder_of(*whole), file) : std::nullopt;
  if (!seen) return file;
  // A folder of this one still reads as a path.
  return seen->find('/') == std::string::npos ? "./" + *seen : *seen;
}

// The name of the model that a table of `file` describes.
std::string name_of(const std::string& file) {
  const std::string stem = stem_of(file);
  return stem.empty() ? "model" : stem;
}

std::string toml_value(const Node& node) {
  if (const auto* text = std::get_if<std::string>(&node.value)) return toml_text(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) return std::to_string(*whole);
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag ? "true" : "false";
  if (const auto* real = std::get_if<double>(&node.value)) {
    const std::string text = formatted("%.17g", *real);
    return text.find_first_not_of("0123456789-") == std::string::npos ? text + ".0" : text;
  }
  std::string out = "[";
  if (const Node::Array* array = node.array()) {
    for (const Node& element : *array) {
      if (out.size() > 1) out += ", ";
      out += toml_value(element);
    }
  }
  return out + "]";
}

// The members of a table of plain values and lists, then its tables.
void add_table(std::string& out, const Node& table, const std::string& name) {
  out += "\n[" + name + "]\n";
  for (const auto& [key, node] : *table.table()) {
    if (node.table() == nullptr) out += key + " = " + toml_value(node) + "\n";
  }
  for (const auto& [key, node] : *table.table()) {
    if (node.table() != nullptr) add_table(out, node, name + "." + key);
  }
}

}  // namespace

Result<RunRequest> run_request_from(const Node& table, const std::string& file) {
  RunRequest request;
  Problems problems;
  if (table.table() == nullptr)
    return Problem{file, "must be a table of fields", Trouble::malformed};
  for (const auto& [key, node] : *table.table()) {
    if (key == "measured" && node.table() != nullptr) continue;  // what was seen of it: no field
    GivenField field(key, {}, {file, node.line, FieldName(printable(key))});
    if (const auto* text = std::get_if<std::string>(&node.value)) {
      field.text = *text;
    } else if (const auto* whole = std::get_if<std::int64_t>(&node.value)) {
      field.text = std::to_string(*whole);
    } else if (const auto* real = std::get_if<double>(&node.value)) {
      field.text = formatted("%.17g", *real);
    } else if (const auto* flag = std::get_if<bool>(&node.value)) {
      field.text = *flag ? "true" : "false";
    } else if (key == "model" && node.table() != nullptr) {
      field.text = name_of(file);
      field.document = std::make_shared<Document>(Document{file, node});
    } else {
      problems.push_back(
          {field.where, "must be text, a number, true or false", Trouble::malformed});
      continue;
    }
    request.push_back(std::move(field));
  }
  if (!problems.empty()) return problems;
  return request;
}

bool is_run_file(const std::string& path) {
  if (path != "-" && !path.ends_with(".json")) return path.ends_with(".toml");
  const auto document = read_document(path);
  return document && (document->root.find("model") != nullptr || is_madmax_task(*document));
}

Result<RunRequest> read_run_file(const std::string& path, const RunRequest& flags) {
  const auto document = read_document(path);
  if (!document) {
    const auto models = model_names();
    if (std::find(models.begin(), models.end(), path) == models.end()) return document.problems();
    return Problem{path, "is a model, and a run file stands here; write --model " + path};
  }
  if (is_madmax_task(*document)) return run_request_from_madmax(*document, flags);
  auto request = run_request_from(document->root, path);
  if (!request) return request;
  // A model or cluster file stands beside the run file that names it.
  const std::size_t slash = path.rfind('/');
  for (GivenField& field : request.value()) {
    if (names_file(field) && !field.text.starts_with('/') && slash != std::string::npos) {
      field.text = path.substr(0, slash + 1) + field.text;
    }
  }
  return request;
}

Result<RunRequest> read_run_request(const std::string& run_file, const RunRequest& flags) {
  if (run_file.empty()) return flags;
  auto request = read_run_file(run_file, flags);
  if (request) request->insert(request->end(), flags.begin(), flags.end());  // the last counts
  return request;
}

std::string run_file_text(const RequestedRun& run, const std::string& path) {
  std::string out = "# headway predict THIS-FILE\n";
  std::string model;  // a table: it stands behind all fields
  for (const RunField& field : all_fields()) {
    const GivenField* given = nullptr;
    for (const GivenField& candidate : run.given) {
      if (candidate.name == field.name) given = &candidate;
    }
    if (given == nullptr) continue;
    if (given->document != nullptr) {
      add_table(model, given->document->root, std::string(field.name));
      continue;
    }
    out += std::string(field.name) + " = ";
    if (field.value.empty()) {
      out += given->text == "false" ? "false" : "true";
    } else if (const auto whole = whole_number(given->text)) {
      out += std::to_string(*whole);
    } else {
      out += toml_text(names_file(*given) ? seen_from(path, given->text) : given->text);
    }
    out += '\n';
  }
  return out + model;
}

}  // namespace headway

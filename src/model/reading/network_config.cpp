// A config.json of a network that is no decoder of language alone: its architecture's template
// (data/networks), filled with what the config says, read as a network's own form.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "model/reading/families.hpp"
#include "model/reading/network_form.hpp"
#include "model/template/expand.hpp"
#include "platform/embedded.hpp"

namespace headway::reading {
namespace {

using templates::Fault;
using templates::Scope;

struct Template {
  std::vector<std::string> architectures;
  std::vector<std::string> types;
  Document document;
};

std::vector<std::string> texts_of(const Node& root, std::string_view key) {
  std::vector<std::string> out;
  const Node* found = root.find(key);
  if (found == nullptr || found->array() == nullptr) return out;
  for (const Node& each : *found->array()) {
    if (const auto* text = std::get_if<std::string>(&each.value)) out.push_back(*text);
  }
  return out;
}

const Result<std::vector<Template>>& embedded_templates() {
  static const Result<std::vector<Template>> known = []() -> Result<std::vector<Template>> {
    std::vector<Template> out;
    for (const std::string& path : embedded_files("networks")) {
      Result<Document> document = parse_toml(embedded_file(path).value_or(""), "data/" + path);
      if (!document) return document.problems();
      out.push_back({texts_of(document->root, "architectures"), texts_of(document->root, "types"),
                     std::move(*document)});
    }
    return out;
  }();
  return known;
}

std::string text_of(const Node& root, std::string_view key) {
  const Node* found = root.find(key);
  const auto* text = found != nullptr ? std::get_if<std::string>(&found->value) : nullptr;
  return text != nullptr ? *text : std::string();
}

// What a config says, what it leaves to its library, and what follows.
class Filling {
 public:
  Filling(const Document& config, const Template& form, const std::string& architecture)
      : config_(config), form_(form), scope_(config.root) {
    scope_.set("architecture", architecture);
    const Node* labels = config.root.find("id2label");
    const bool named = labels != nullptr && labels->table() != nullptr;
    if (named) {
      scope_.set("labels", static_cast<double>(std::max<std::size_t>(1, labels->table()->size())));
    } else {
      scope_.set("labels", scope_.find("num_labels").value_or(2.0));
    }
    define("defaults", /*over=*/false);
    define("let", /*over=*/true);
  }

  Result<Document> fill() {
    Document out{config_.file, {Node::Table(), 0}};
    Node::Table members;
    for (const char* key : {"source", "sample", "input", "block"}) {
      const Node* found = form_.document.root.find(key);
      if (found != nullptr) members.push_back({key, templates::expand(*found, scope_, faults_)});
    }
    const std::string source = text_of(config_.root, "_source");
    if (!source.empty()) members.front().second = {source, 0};
    out.root.value = std::move(members);
    Problems problems;
    for (const Fault& fault : faults_) {
      Problem problem{
          fault.name.empty() ? Where(config_.file) : Where(config_.file, 0, FieldName(fault.name)),
          fault.why, fault.missing ? Trouble::missing : Trouble::illegal};
      if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
        problems.push_back(std::move(problem));
      }
    }
    if (!problems.empty()) return problems;
    return out;
  }

 private:
  void define(const char* table, bool over) {
    const Node* found = form_.document.root.find(table);
    if (found == nullptr || found->table() == nullptr) return;
    for (const auto& [name, node] : *found->table()) {
      if (!over && scope_.find(name)) continue;
      const auto* text = std::get_if<std::string>(&node.value);
      if (text != nullptr && text->starts_with("= ")) {
        const auto said = templates::evaluate(std::string_view(*text).substr(2), scope_);
        if (const auto* fault = std::get_if<Fault>(&said)) {
          faults_.push_back(*fault);
          scope_.set(name, 1.0);
        } else {
          scope_.set(name, std::get<templates::Value>(said));
        }
        continue;
      }
      const Node one{Node::Table{{"said", node}}, 0};
      scope_.set(name, Scope(one).find("said").value_or(0.0));
    }
  }

  const Document& config_;
  const Template& form_;
  Scope scope_;
  std::vector<Fault> faults_;
};

}  // namespace

std::optional<Result<Model>> network_from_config(const Document& config, const std::string& name) {
  const Result<std::vector<Template>>& known = embedded_templates();
  if (!known) return known.problems();
  std::vector<std::string> architectures = texts_of(config.root, "architectures");
  const std::string of_class = text_of(config.root, "_class_name");
  if (architectures.empty() && !of_class.empty()) architectures.push_back(of_class);
  const std::string type = text_of(config.root, "model_type");
  for (const Template& form : *known) {
    std::string architecture = form.architectures.empty() ? "" : form.architectures.front();
    bool found = architectures.empty() && holds(form.types, type);
    for (const std::string& each : architectures) {
      if (!found && holds(form.architectures, each)) {
        architecture = each;
        found = true;
      }
    }
    if (!found) continue;
    const Result<Document> filled = Filling(config, form, architecture).fill();
    if (!filled) return filled.problems();
    return network_from_toml(*filled, name);
  }
  return std::nullopt;
}

}  // namespace headway::reading

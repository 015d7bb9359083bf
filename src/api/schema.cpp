// The schemas of requests, from the table of commands.
#include <algorithm>
#include <array>
#include <cmath>

#include "api/answer.hpp"
#include "api/command.hpp"
#include "api/json_request.hpp"
#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "platform/embedded.hpp"
#include "report/json/document.hpp"
#include "run/network_fields.hpp"

namespace headway {
namespace {

template <class Names>
Json one_of(const Names& names) {
  Json list = Json::array();
  for (const auto& name : names) list.push_back(std::string(name));
  return {{"enum", std::move(list)}};
}

Json typed(const char* type) {
  return {{"type", type}};
}
Json whole(std::int64_t least, std::int64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}
Json number_or_text() {
  return {{"type", {"number", "string"}}};
}
Json array_of(const Json& element) {
  return {{"type", "array"}, {"items", element}};
}
// One text between commas, or a list.
Json list_of(const Json& element) {
  return {{"anyOf", {typed("string"), array_of(element)}}};
}
Json built_in_or_object(const std::vector<std::string>& names) {
  return {{"anyOf", {one_of(names), typed("object")}}};
}

Json number(double least, double most) {
  return {{"type", "number"}, {"minimum", least}, {"maximum", most}};
}
// Without the one that leaves the choice to the framework.
Json names_of(const FieldForm& form) {
  return one_of(form.names.subspan(std::isnan(form.none) ? 0 : 1));
}
// The same with the other words that are understood.
Json understood_names_of(const FieldForm& form) {
  Json out = names_of(form);
  for (const OtherName& other : form.also) out["enum"].push_back(std::string(other.said));
  return out;
}

// What may be given for a field of a run, or an option like it.
Json field_schema(const Option& field) {
  using Kind = FieldForm::Kind;
  const FieldForm& form = *field.takes;
  switch (form.kind) {
    case Kind::model:
      return built_in_or_object(model_names());
    case Kind::cluster:
      return built_in_or_object(cluster_names());
    case Kind::own_runs:
      return typed("object");
    case Kind::whole:
      return whole(static_cast<std::int64_t>(form.least), static_cast<std::int64_t>(form.most));
    case Kind::number:
      return number(form.least, form.most);
    case Kind::name:
      return form.lists ? understood_names_of(form) : typed("string");
    case Kind::names:
      return list_of(one_of(form.names));
    case Kind::flag:
      return typed("boolean");
    case Kind::amount:
      return number_or_text();
    case Kind::list:
      return {{"anyOf", {number_or_text(), array_of(number_or_text())}}};
    case Kind::text:
    case Kind::month:
    case Kind::bytes:
      return typed("string");
  }
  return {};
}

// What may be given for an option, by the type of what it sets.
struct ValueSchema {
  const Option& option;

  Json operator()(const bool*) const { return typed("boolean"); }
  Json operator()(const std::integral auto*) const { return count(); }
  Json operator()(const std::optional<std::int64_t>*) const { return count(); }
  Json operator()(const double*) const { return option.range ? count() : typed("number"); }
  Json operator()(const std::optional<double>*) const { return typed("number"); }
  Json operator()(const std::string*) const {
    if (option.form == Form::number_or_text) return number_or_text();
    return option.names != nullptr ? one_of(option.names()) : typed("string");
  }
  Json operator()(const std::optional<std::string>*) const { return typed("string"); }
  Json operator()(const std::vector<std::string>*) const {
    if (option.form == Form::pairs) return typed("object");
    if (option.names == nullptr) return list_of(typed("string"));
    const Json one = one_of(option.names());
    return {{"anyOf", {one, array_of(one)}}};
  }
  Json operator()(const std::vector<Document>*) const { return array_of(typed("object")); }
  Json operator()(const std::optional<Document>*) const { return typed("object"); }
  Json operator()(const NameOrDescription*) const {
    return {{"anyOf", {typed("string"), typed("object")}}};
  }
  Json operator()(const RunRequest*) const {
    return option.takes == nullptr ? count() : field_schema(option);
  }

 private:
  Json count() const {
    if (!option.range) return typed("integer");
    return whole(option.range->least, option.range->most);
  }
};

void add(Json& properties, std::string_view name, Json schema, std::string_view help) {
  schema["description"] = std::string(help);
  properties[std::string(name)] = std::move(schema);
}

// `own`: of who runs the program. `chosen_by`: the command whose member names this one.
Json request_of(const Command& command, bool own, const Command* chosen_by = nullptr) {
  Json properties = Json::object();
  std::vector<std::string> required;
  if (chosen_by != nullptr) {
    add(properties, chosen_by->selector, {{"const", std::string(command.name)}},
        chosen_by->selector_help);
    required.emplace_back(chosen_by->selector);
  }
  for (const Option* option : members_of(command.options, own)) {
    const std::string_view name = member_of(*option);
    add(properties, name, std::visit(ValueSchema{*option}, option->target), help_of(*option));
    if (option->required) required.emplace_back(name);
    if (own && !option->operand.empty()) properties[std::string(name)]["operand"] = true;
  }
  Json out = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = required;
  out["additionalProperties"] = false;
  if (command.commands.empty()) return out;
  Json forms = Json::array();  // one of these, which differ in their own members
  for (const CommandRow& row : own ? command.commands : answered(command.commands)) {
    forms.push_back(request_of(row.make(), own, &command));
  }
  if (is_asked(command)) forms.push_back(std::move(out));
  return {{"type", "object"}, {"oneOf", std::move(forms)}};
}

// What a member of a layout holds.
Json member_of_layout(const FieldForm& form) {
  using Kind = FieldForm::Kind;
  if (form.kind == Kind::names) return {{"type", "array"}, {"items", one_of(form.names)}};
  if (form.kind == Kind::flag) return typed("boolean");
  const bool may_lack = !std::isnan(form.none);
  if (form.kind != Kind::name) {
    return may_lack ? Json{{"type", {"integer", "null"}}} : typed("integer");
  }
  if (!form.lists) return typed("string");
  Json out = names_of(form);
  if (may_lack) out["enum"].push_back(nullptr);
  return out;
}

// The layout of a run in a document: every field of the table that is part of it; those of networks
// where they are not as usual.
Json layout_of_response() {
  Json properties = Json::object();
  std::vector<std::string> required;
  for (const FieldRow& row : field_rows()) {
    if (row.member.empty()) continue;
    if (!is_of_networks(row.field.name)) required.emplace_back(row.member);
    properties[std::string(row.member)] = member_of_layout(row.field.form);
    if (row.member == "micro_batch") properties["micro_batches"] = typed("integer");
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", required}};
}

// What data/schema/ says of the command's documents; a layout that it leaves open is a run's.
Json response_of(std::string_view command) {
  const auto text = embedded_file("schema/" + std::string(command) + ".json");
  Json out = text ? Json::parse(*text) : Json::object();
  if (out.contains("$defs") && out["$defs"].contains("layout") && out["$defs"]["layout"].empty()) {
    out["$defs"]["layout"] = layout_of_response();
  }
  return out;
}

Json both_of(const CommandRow& row, bool own = false) {
  const std::string name(row.name);
  Json request = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                  {"title", "request of " + name}};
  const Command command = row.make();
  if (own) request["description"] = std::string(command.help);
  request.update(request_of(command, own));
  return {{"request", std::move(request)}, {"response", response_of(name)}};
}

}  // namespace

std::optional<std::string> schema_json(std::string_view command) {
  const CommandRow* row = command_row(answered_commands(), command);
  if (row == nullptr) return std::nullopt;
  return document_text(both_of(*row));
}

std::string schemas_json(bool own) {
  Json commands = Json::object();
  for (const CommandRow& row :
       own ? command_rows() : std::span<const CommandRow>(answered_commands())) {
    commands[std::string(row.name)] = both_of(row, own);
  }
  return document_text({{"commands", std::move(commands)}});
}

}  // namespace headway

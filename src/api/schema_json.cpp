#include <algorithm>
#include <cmath>

#include "api/answer.hpp"
#include "api/plan.hpp"
#include "api/schema.hpp"
#include "cluster/load.hpp"
#include "fit/validation/validation.hpp"
#include "launch/launch.hpp"
#include "limits/load.hpp"
#include "model/load.hpp"
#include "platform/embedded.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

template <class Names>
Json one_of(const Names& names) {
  Json list = Json::array();
  for (const auto& name : names) list.push_back(std::string(name));
  return {{"enum", std::move(list)}};
}

// Fields whose values are one of a list of names.
std::optional<Json> names_for(const RunField& field) {
  if (field.name == "loss-law") return one_of(std::array{"besiroglu", "hoffmann"});
  const FieldRow* row = field_row(field.name);
  const bool lists = row != nullptr && row->form.kind == FieldForm::Kind::name && row->form.lists;
  // Where help lists the names, it leaves out the framework's own choice.
  if (!lists || field.value.find('|') != std::string_view::npos) return std::nullopt;
  return one_of(row->form.names);
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
// One text between commas, or a list.
Json list_of(const Json& element) {
  return {{"anyOf", {typed("string"), {{"type", "array"}, {"items", element}}}}};
}
Json built_in_or_object(const std::vector<std::string>& names) {
  return {{"anyOf", {one_of(names), typed("object")}}};
}

// What a field may be, from the word that stands for its value in help.
Json value_of(const RunField& field) {
  const std::string_view value = field.value;
  if (field.name == "model") return built_in_or_object(model_names());
  if (field.name == "cluster") return built_in_or_object(cluster_names());
  if (field.name == "tokens" || field.name == "critical-batch") return number_or_text();
  if (auto names = names_for(field)) return *names;
  if (value.empty()) return typed("boolean");
  if (value == "N") return whole(0, 1'000'000'000'000);
  if (value == "0..3") return whole(0, 3);
  if (value == "0..1") return {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
  if (value == "P" || value == "X" || value == "X|FILE") return typed("number");
  if (value == "LIST") return list_of(number_or_text());
  if (value.find('|') != std::string_view::npos && value != "TIME|none") {
    const std::size_t bar = value.find('|');
    return one_of(std::array{value.substr(0, bar), value.substr(bar + 1)});
  }
  return typed("string");
}

void add(Json& properties, std::string_view name, Json schema, std::string_view help) {
  schema["description"] = std::string(help);
  properties[std::string(name)] = std::move(schema);
}

void add(Json& properties, std::span<const RunField> fields) {
  for (const RunField& field : fields) add(properties, field.name, value_of(field), field.help);
}

Json object(Json properties, const std::vector<std::string>& required) {
  Json out = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = required;
  out["additionalProperties"] = false;
  return out;
}

const std::vector<std::string> kRunNeeds = {"model", "cluster", "seq", "global-batch"};
constexpr std::string_view kEmitHelp = "give the configuration that starts the run instead";

Json predict_request() {
  Json properties = Json::object();
  add(properties, run_fields());
  add(properties, "emit", one_of(kLauncherNames), kEmitHelp);
  return object(std::move(properties), kRunNeeds);
}

Json plan_request() {
  Json properties = Json::object();
  add(properties, run_fields());
  add(properties, "fix", typed("object"), "searched fields that stand at a value, as {\"tp\": 8}");
  for (const std::string& name : plan_counts()) {
    add(properties, "max-" + name, whole(1, 1'000'000'000'000), "keep " + name + " at most there");
  }
  add(properties, "objective", one_of(kObjectiveNames), "what is best; default: time");
  add(properties, "headroom", number_or_text(), "share of the memory to leave free, as 10%");
  add(properties, "top", whole(1, 100), "layouts of different kind; default: 5");
  add(properties, "exhaustive", typed("boolean"), "price every layout, without bounds");
  add(properties, "emit", one_of(kLauncherNames), kEmitHelp);
  return object(std::move(properties), kRunNeeds);
}

Json comms_request() {
  Json properties = Json::object();
  add(properties, run_fields());
  add(properties, "small", typed("string"), "messages below this size are small, as 16 KiB");
  add(properties, "study", typed("boolean"), "the communication study instead of a run");
  add(properties, "trace-steps", whole(1, 1'000'000), "steps in the traces; default: found");
  return object(std::move(properties), {});
}

Json scale_request() {
  // One for each command of `scale`: they differ in their own fields.
  Json forms = Json::array();
  const auto form = [&](std::string_view sweep, std::span<const RunField> own,
                        std::vector<std::string> required) {
    Json properties = Json::object();
    add(properties, "sweep", {{"const", std::string(sweep)}}, "which command of scale");
    add(properties, own);
    add(properties, scale_run_fields());
    add(properties, run_fields());
    required.insert(required.begin(), "sweep");
    forms.push_back(object(std::move(properties), required));
  };
  for (std::size_t i = 0; i < kSweepNames.size(); ++i) {
    form(kSweepNames[i], scale_sweep_fields(static_cast<SweepAxis>(i)), kRunNeeds);
  }
  std::vector<std::string> run_needs = kRunNeeds;
  run_needs.push_back("tokens");
  form("run", {}, run_needs);
  forms.push_back(object({{"sweep", {{"const", "published"}}}}, {"sweep"}));
  return {{"type", "object"}, {"oneOf", std::move(forms)}};
}

Json limits_request() {
  Json properties = Json::object();
  add(properties, "preset", list_of(typed("string")), "published comparisons");
  const Json machine = one_of(limits::machine_names());
  add(properties, "gpu", {{"anyOf", {machine, {{"type", "array"}, {"items", machine}}}}},
      "built-in machines");
  add(properties, "settings", {{"type", "array"}, {"items", typed("object")}},
      "settings described in place, as a setting's .toml");
  add(properties, "sparse", typed("boolean"), "models with experts in every setting");
  add(properties, "as-published", typed("boolean"), "with the slip of the study's program");
  add(properties, "explain", typed("boolean"), "of no effect on the document");
  add(properties, "sensitivity", typed("boolean"), "how far each number moves the limits");
  add(properties, "real", typed("boolean"), "beside each setting, real transformers");
  add(properties, "cluster", one_of(cluster_names()), "of real");
  add(properties, "seq", whole(1, 100'000'000), "tokens in a sequence; default: 2048");
  add(properties, "relax", typed("string"), "a method with less communication");
  add(properties, "sync-every", typed("number"), "steps between meetings");
  add(properties, "loose-level", typed("string"), "level from which replicas meet rarely");
  add(properties, "compression", typed("number"), "gradient bytes over bytes sent");
  add(properties, "blocks", whole(1, 1'000'000'000), "blocks with losses of their own");
  add(properties, "submodels", whole(1, 1'000'000'000), "submodels trained apart");
  add(properties, "sample-penalty", typed("number"), "data needed, times synchronous training's");
  add(properties, "sites", whole(1, 1'000'000'000), "data centres that share the run");
  add(properties, "site-bandwidth", typed("string"), "of one GPU to other sites, as 1 GB/s");
  add(properties, "site-distance", typed("number"), "between sites, km");
  return object(std::move(properties), {});
}

Json validate_request() {
  Json properties = Json::object();
  add(properties, "by", one_of(kValidateByNames), "what rows are grouped by; default: source");
  add(properties, "rows", typed("boolean"), "add every row to the document");
  return object(std::move(properties), {});
}

Json list_request() {
  Json properties = Json::object();
  add(properties, "what", one_of(std::array{"models", "clusters", "accelerators", "machines"}),
      "what to list");
  return object(std::move(properties), {"what"});
}

Json request_of(std::string_view command) {
  if (command == "predict") return predict_request();
  if (command == "plan") return plan_request();
  if (command == "comms") return comms_request();
  if (command == "scale") return scale_request();
  if (command == "limits") return limits_request();
  if (command == "validate") return validate_request();
  return list_request();
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
  Json out = one_of(form.names.subspan(may_lack ? 1 : 0));
  if (may_lack) out["enum"].push_back(nullptr);
  return out;
}

// The layout of a run in a document: every field of the table that is part of it.
Json layout_of_response() {
  Json properties = Json::object();
  std::vector<std::string> required;
  for (const FieldRow& row : field_rows()) {
    if (row.member.empty()) continue;
    required.emplace_back(row.member);
    properties[required.back()] = member_of_layout(row.form);
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

Json both_of(std::string_view command) {
  Json request = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                  {"title", "request of " + std::string(command)}};
  request.update(request_of(command));
  return {{"request", std::move(request)}, {"response", response_of(command)}};
}

}  // namespace

std::optional<std::string> schema_json(std::string_view command) {
  const auto known = std::find(kAnsweredCommands.begin(), kAnsweredCommands.end(), command);
  if (known == kAnsweredCommands.end()) return std::nullopt;
  return document_text(both_of(command));
}

std::string schemas_json() {
  Json commands = Json::object();
  for (const std::string_view command : kAnsweredCommands) {
    commands[std::string(command)] = both_of(command);
  }
  return document_text({{"commands", std::move(commands)}});
}

}  // namespace headway

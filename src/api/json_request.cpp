#include "api/json_request.hpp"

#include <algorithm>
#include <charconv>

#include "base/formatted.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "run/words.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostElements = 1024;  // of a list
constexpr Range kAnyCount = {0, 1'000'000'000'000};

std::optional<std::string> plain_text(const Node& node) {
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) return std::to_string(*whole);
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag ? "true" : "false";
  if (const auto* real = std::get_if<double>(&node.value)) {
    return shortest_text(*real);
  }
  return std::nullopt;
}

bool holds(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool names_a_file(std::string_view name) {
  return name.find('/') != std::string::npos || name.ends_with(".toml") || name.ends_with(".json");
}
std::string refused_file(std::string_view noun, const std::string& name) {
  return "'" + printable(name) + "' names a file, and a request reads none: give a built-in " +
         std::string(noun) + ", or an object that describes one";
}

std::string unknown(std::string_view noun, const std::string& name,
                    std::span<const std::string> names) {
  if (names_a_file(name)) return refused_file(noun, name);
  return "'" + printable(name) + "' is no built-in " + std::string(noun) + suggestion(name, names);
}

// The name that a thing described in place goes by.
std::string own_name(const Node& described, std::string_view otherwise) {
  const Node* name = described.find("name");
  const auto* text = name != nullptr ? std::get_if<std::string>(&name->value) : nullptr;
  return text != nullptr && !text->empty() ? *text : std::string(otherwise);
}

}  // namespace

const Node* JsonRequest::take(std::string_view name) {
  asked_.push_back(name);
  return object_.find(name);
}

void JsonRequest::fail(std::string_view name, std::string message, Trouble kind) {
  problems_.push_back({member(printable(name)), std::move(message), kind});
}

bool JsonRequest::flag(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return false;
  if (const auto* value = std::get_if<bool>(&node->value)) return *value;
  fail(name, "must be true or false", Trouble::malformed);
  return false;
}

std::string JsonRequest::text(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return {};
  const auto* value = std::get_if<std::string>(&node->value);
  if (value == nullptr) return fail(name, "must be text", Trouble::malformed), std::string();
  if (value->empty()) fail(name, "is empty; leave it out, or say what is meant");
  return *value;
}

std::vector<std::string> JsonRequest::texts(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return {};
  if (const auto* one = std::get_if<std::string>(&node->value)) return {*one};
  std::vector<std::string> out;
  const Node::Array* array = node->array();
  if (array == nullptr || array->size() > kMostElements) {
    return fail(name, "must be text or a list of texts, at most 1024", Trouble::malformed), out;
  }
  for (const Node& element : *array) {
    const auto* one = std::get_if<std::string>(&element.value);
    if (one == nullptr)
      return fail(name, "must be text or a list of texts", Trouble::malformed), out;
    out.push_back(*one);
  }
  return out;
}

std::optional<std::int64_t> JsonRequest::whole(std::string_view name, std::int64_t least,
                                               std::int64_t most) {
  const Node* node = take(name);
  if (node == nullptr) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&node->value);
  if (value != nullptr && *value >= least && *value <= most) return *value;
  fail(name,
       "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<double> JsonRequest::number(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&node->value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* real = std::get_if<double>(&node->value)) return *real;
  fail(name, "must be a number", Trouble::malformed);
  return std::nullopt;
}

std::string JsonRequest::text_or_number(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return {};
  const auto text = plain_text(*node);
  if (!text || text->empty() || std::holds_alternative<bool>(node->value)) {
    return fail(name, "must be text or a number", Trouble::malformed), std::string();
  }
  return *text;
}

std::string JsonRequest::name_of(std::string_view name, std::span<const std::string> names) {
  const std::string found = text(name);
  if (found.empty() || holds(names, found)) return found;
  fail(name, "'" + printable(found) + "' is not known" + suggestion(found, names),
       Trouble::unknown);
  return {};
}

std::optional<Document> JsonRequest::described(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return std::nullopt;
  if (node->table() != nullptr) return Document{std::string(name), *node};
  fail(name, "must be an object", Trouble::malformed);
  return std::nullopt;
}

NameOrDescription JsonRequest::name_or_described(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return {};
  if (node->table() != nullptr) return {{}, described(name)};
  std::string given = text(name);
  if (may_name_files() || !names_a_file(given)) return {std::move(given), std::nullopt};
  fail(name, refused_file(name, given), Trouble::unknown);
  return {};  // it is not to be read
}

std::vector<const Node*> JsonRequest::objects(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return {};
  std::vector<const Node*> out;
  const Node::Array* array = node->array();
  if (array == nullptr || array->size() > kMostElements) {
    return fail(name, "must be a list of objects, at most 1024", Trouble::malformed), out;
  }
  for (const Node& element : *array) {
    if (element.table() == nullptr)
      return fail(name, "must be a list of objects", Trouble::malformed), out;
    out.push_back(&element);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> JsonRequest::pairs(std::string_view name) {
  const Node* node = take(name);
  if (node == nullptr) return {};
  std::vector<std::pair<std::string, std::string>> out;
  if (node->table() == nullptr) return fail(name, "must be an object", Trouble::malformed), out;
  for (const auto& [key, value] : *node->table()) {
    const auto text = plain_text(value);
    if (!text) {
      fail(std::string(name) + "." + key, "must be text, a number, true or false",
           Trouble::malformed);
      continue;
    }
    out.emplace_back(key, *text);
  }
  return out;
}

std::optional<GivenField> JsonRequest::field(std::string_view name, const FieldForm& form,
                                             const Node& node) {
  GivenField out(std::string(name), {}, member(name));
  using Kind = FieldForm::Kind;
  const bool model = form.kind == Kind::model, cluster = form.kind == Kind::cluster;
  const bool own = form.kind == Kind::own_runs;
  if (own && node.table() == nullptr && !may_name_files()) {
    return fail(name, "must be an object, as headway calibrate --runs writes it; no file is read"),
           std::nullopt;
  }
  if (auto text = plain_text(node)) {
    out.text = std::move(*text);
    if (may_name_files()) return out;
    if (model || cluster) {
      static const auto models = model_names(), clusters = cluster_names();
      const auto& names = model ? models : clusters;
      if (!holds(names, lower(out.text))) {
        return fail(name, unknown(name, out.text, names)), std::nullopt;
      }
    }
    double spread = 0;
    const char* const end = out.text.data() + out.text.size();
    if (form.or_file && std::from_chars(out.text.data(), end, spread).ptr != end) {
      return fail(name, "must be a number; no file is read for a request"), std::nullopt;
    }
    return out;
  }
  if ((model || cluster || own) && node.table() != nullptr) {
    out.text = own_name(node, name);
    auto document = std::make_shared<Document>(Document{out.name, node});
    if (model) {  // whose own form has no name: a file's stands for it
      std::erase_if(std::get<Node::Table>(document->root.value),
                    [](const auto& member) { return member.first == "name"; });
    }
    out.document = std::move(document);
    const std::size_t before = problems_.size();
    if (cluster && !may_name_files()) refuse_files(node, out.name, problems_);
    if (problems_.size() > before) return std::nullopt;
    return out;
  }
  if (const Node::Array* array = node.array()) {
    for (const Node& element : *array) {
      const auto text = plain_text(element);
      if (!text)
        return fail(name, "must be a list of texts or numbers", Trouble::malformed), std::nullopt;
      if (!out.text.empty()) out.text += ',';
      out.text += *text;
    }
    return out;
  }
  fail(name,
       model || cluster ? "must be a built-in name, or an object that describes it"
                        : "must be text, a number, true or false",
       Trouble::malformed);
  return std::nullopt;
}

std::optional<GivenField> JsonRequest::given(std::string_view name, const FieldForm& form) {
  const Node* node = take(name);
  return node != nullptr ? field(name, form, *node) : std::nullopt;
}

void JsonRequest::reject_unknown() {
  for (const auto& [name, node] : *object_.table()) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    if (name.empty()) {
      fail("request", "has a member without a name");
    } else {
      fail(name,
           "is not a known field" +
               hint(name, std::vector<std::string>(asked_.begin(), asked_.end())),
           Trouble::unknown);
    }
  }
}

namespace {

// Sets an option's target from the member of its name; what is not given leaves it as it is.
struct MemberReader {
  const Option& option;
  JsonRequest& json;
  std::string_view name = member_of(option);

  void operator()(bool* to) const {
    if (json.flag(name)) *to = true;
  }
  template <std::integral T>
  void operator()(T* to) const {
    if (const auto given = whole()) *to = static_cast<T>(*given);
  }
  void operator()(std::optional<std::int64_t>* to) const { *to = whole(); }
  void operator()(double* to) const {
    if (option.range) {
      if (const auto given = whole()) *to = static_cast<double>(*given);
    } else if (const auto given = json.number(name))
      *to = *given;
  }
  void operator()(std::optional<double>* to) const { *to = json.number(name); }
  void operator()(std::string* to) const {
    if (std::string given = text(); !given.empty()) *to = std::move(given);
  }
  void operator()(std::optional<std::string>* to) const {
    if (std::string given = text(); !given.empty()) *to = std::move(given);
  }
  void operator()(std::vector<std::string>* to) const {
    if (option.form == Form::pairs) {
      for (const auto& [key, value] : json.pairs(name)) to->push_back(key + "=" + value);
      return;
    }
    for (std::string& each : json.texts(name)) {
      if (is_built_in(each)) to->push_back(std::move(each));
    }
  }
  void operator()(std::vector<Document>* to) const {
    const auto objects = json.objects(name);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      to->push_back({std::string(name) + "[" + std::to_string(i) + "]", *objects[i]});
    }
  }
  void operator()(std::optional<Document>* to) const { *to = json.described(name); }
  void operator()(NameOrDescription* to) const { *to = json.name_or_described(name); }
  void operator()(RunRequest* to) const {
    const std::string field(option.field.empty() ? name : option.field);
    if (option.takes == nullptr) {
      if (std::string given = json.text_or_number(name); !given.empty()) {
        to->push_back({field, std::move(given), member(name)});
      }
    } else if (auto given = json.given(name, *option.takes); given && all_built_in(given->text)) {
      to->push_back(std::move(*given));
    }
  }

 private:
  std::optional<std::int64_t> whole() const {
    const Range range = option.range.value_or(kAnyCount);
    return json.whole(name, range.least, range.most);
  }
  std::string text() const {
    if (option.form == Form::number_or_text) return json.text_or_number(name);
    return option.names ? json.name_of(name, option.names()) : json.text(name);
  }
  // Other names may be files: they are refused.
  bool is_built_in(const std::string& given) const {
    if (option.built_in.empty() || json.may_name_files()) return true;
    const std::vector<std::string> names = option.names();
    if (holds(names, given)) return true;
    json.fail(name,
              "'" + printable(given) + "' is no built-in " + std::string(option.built_in) +
                  suggestion(given, names) + std::string(option.instead),
              Trouble::unknown);
    return false;
  }
  // Of names between commas.
  bool all_built_in(const std::string& list) const {
    if (option.built_in.empty() || json.may_name_files()) return true;
    bool all = true;
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      std::string each = list.substr(begin, end - begin);
      each.erase(0, each.find_first_not_of(' '));
      each.erase(each.find_last_not_of(' ') + 1);
      begin = end + 1;
      all &= is_built_in(each);
    }
    return all;
  }
};

}  // namespace

std::string_view member_of(const Option& option) {
  return option.name.empty() ? std::string_view("files") : option.name;
}

void read_member(const Option& option, JsonRequest& json) {
  std::visit(MemberReader{option, json}, option.target);
}

void refuse_files(const Node& cluster, const std::string& where, Problems& problems) {
  const auto check = [&](const Node* node, const std::string& place, const char* noun,
                         const std::vector<std::string>& names) {
    const auto* text = node != nullptr ? std::get_if<std::string>(&node->value) : nullptr;
    if (text == nullptr || holds(names, *text)) return;
    problems.push_back(
        {member(place),
         "'" + printable(*text) + "' is no built-in " + noun + suggestion(*text, names),
         Trouble::unknown});
  };
  const Node* accelerator = cluster.find("accelerator");
  check(cluster.find("base"), where + ".base", "cluster", cluster_names());
  check(accelerator, where + ".accelerator", "accelerator", accelerator_names());
  if (accelerator != nullptr && accelerator->table() != nullptr) {
    check(accelerator->find("base"), where + ".accelerator.base", "accelerator",
          accelerator_names());
  }
}

Problems by_member(Problems problems, std::span<const std::string> described) {
  for (Problem& problem : problems) {
    Place& place = problem.place;
    const bool in_described =
        std::find(described.begin(), described.end(), place.file) != described.end();
    if (in_described && place.line > 0) {
      const std::string within = problem.fields.empty() ? "" : "." + problem.fields.front().name;
      problem.fields = {FieldName(place.file + within)};
      place = Place{.kind = Place::Kind::member};
    } else if (place.kind == Place::Kind::argument) {
      place.kind = Place::Kind::member;
    }
  }
  return problems;
}

}  // namespace headway

#include "report/json/document.hpp"

#include <cmath>
#include <cstdint>

#include "base/whole_number.hpp"
#include "report/problems.hpp"

namespace headway {

std::string document_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write(JsonWriter& into, const Json& value) {
  if (value.is_object()) {
    into.begin_object();
    for (const auto& [name, member] : value.items()) {
      into.key(name);
      write(into, member);
    }
    into.end_object();
  } else if (value.is_array()) {
    into.begin_array();
    for (const Json& element : value) write(into, element);
    into.end_array();
  } else if (value.is_string()) {
    into.value(value.get_ref<const std::string&>());
  } else if (value.is_boolean()) {
    into.value(value.get<bool>());
  } else if (value.is_number_integer()) {
    into.value(value.get<std::int64_t>());
  } else if (value.is_number()) {
    into.value(value.get<double>());
  } else {
    into.null();
  }
}

Json count_json(double count) {
  const double near = whole_if_near(count);
  const bool whole = near == std::floor(near) && std::abs(near) < 1e15;
  return whole ? Json(static_cast<std::int64_t>(near)) : Json(near);
}

Json node_json(const Node& node) {
  if (const Node::Table* table = node.table()) {
    Json out = Json::object();
    for (const auto& [name, member] : *table) out[name] = node_json(member);
    return out;
  }
  if (const Node::Array* array = node.array()) {
    Json out = Json::array();
    for (const Node& member : *array) out.push_back(node_json(member));
    return out;
  }
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  if (const auto* number = std::get_if<double>(&node.value)) return *number;
  if (const auto* count = std::get_if<std::int64_t>(&node.value)) return *count;
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag;
  return nullptr;
}

std::string document_json(const Document& document) {
  return document_text(node_json(document.root));
}

}  // namespace headway

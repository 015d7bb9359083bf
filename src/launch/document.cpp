#include "launch/document.hpp"

#include "base/whole_number.hpp"

namespace headway::launch {

std::string scalar_text(const Node& node) {
  if (const auto* value = std::get_if<std::string>(&node.value)) return *value;
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&node.value)) return number(*real);
  if (const auto* on = std::get_if<bool>(&node.value)) return *on ? "true" : "false";
  return {};
}

const Node* DocumentReader::table_of(std::string_view table) const {
  const Node* node = &document_.root;
  while (node != nullptr && !table.empty()) {
    const std::size_t dot = table.find('.');
    node = node->find(table.substr(0, dot));
    table = dot == std::string_view::npos ? std::string_view() : table.substr(dot + 1);
  }
  return node;
}

const Node* DocumentReader::find(std::string_view table, std::string_view key) const {
  const Node* node = table_of(table);
  return node == nullptr ? nullptr : node->find(key);
}

Where DocumentReader::at(std::string_view table, std::string_view key) const {
  const Node* node = find(table, key);
  if (node == nullptr) node = table_of(table);
  const std::string path = std::string(table) + (table.empty() ? "" : ".") + std::string(key);
  return {document_.file, node != nullptr ? node->line : 0, FieldName(path)};
}

void DocumentReader::add(std::string_view field, std::string text, std::string_view table,
                         std::string_view key) {
  out_.fields.push_back({std::string(field), std::move(text), at(table, key)});
}

std::string DocumentReader::text(std::string_view table, std::string_view key) const {
  const Node* node = find(table, key);
  return node == nullptr ? std::string() : scalar_text(*node);
}

std::int64_t DocumentReader::degree(std::string_view table, std::string_view key,
                                    std::int64_t usual) const {
  const std::int64_t value = whole_number(text(table, key)).value_or(usual);
  return value > 1'000'000 ? 1'000'000 : value;
}

bool DocumentReader::flag(std::string_view table, std::string_view key, bool usual) const {
  const std::string value = text(table, key);
  return value.empty() ? usual : value == "true";
}

void DocumentReader::copy(std::string_view table, std::string_view key, std::string_view field) {
  const Node* node = find(table, key);
  if (node != nullptr && !node->is_null()) add(field, text(table, key), table, key);
}

void DocumentReader::fail(std::string_view table, std::string_view key, std::string message) {
  problems_.push_back({at(table, key), std::move(message)});
}

}  // namespace headway::launch

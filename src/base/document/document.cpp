#include "base/document/document.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace headway {
namespace {

constexpr std::int64_t kLargestCount = 1'000'000'000'000'000;

const Node kEmptyTable{Node::Table{}, 0};

}  // namespace

const Node* Node::find(std::string_view key) const {
  const Table* members = table();
  if (members == nullptr) return nullptr;
  for (const auto& [name, node] : *members) {
    if (name == key) return &node;
  }
  return nullptr;
}

void overlay(Node& base, const Node& over) {
  const Node::Table* from = over.table();
  auto* into = std::get_if<Node::Table>(&base.value);
  if (from == nullptr || into == nullptr) {
    base = over;
    return;
  }
  for (const auto& [key, node] : *from) {
    const auto existing = std::find_if(into->begin(), into->end(),
                                       [&](const auto& member) { return member.first == key; });
    if (existing == into->end()) {
      into->emplace_back(key, node);
    } else {
      overlay(existing->second, node);
    }
  }
}

void forget_lines(Node& node) {
  node.line = 0;
  if (auto* members = std::get_if<Node::Table>(&node.value)) {
    for (auto& member : *members) forget_lines(member.second);
  } else if (auto* elements = std::get_if<Node::Array>(&node.value)) {
    for (Node& element : *elements) forget_lines(element);
  }
}

Fields::Fields(const Document& document, Problems& problems)
    : Fields(document.root, document.file, "", problems) {}

Fields::Fields(const Node& table, std::string file, std::string path, Problems& problems)
    : node_(&table), file_(std::move(file)), path_(std::move(path)), problems_(&problems) {}

bool Fields::has(std::string_view key) const {
  const Node* node = node_->find(key);
  return node != nullptr && !node->is_null();
}

const Node* Fields::ask(std::string_view key) {
  asked_.emplace_back(key);
  const Node* node = node_->find(key);
  return node != nullptr && !node->is_null() ? node : nullptr;
}

const Node* Fields::require(std::string_view key) {
  const Node* node = ask(key);
  if (node == nullptr) fail(key, "is missing", Trouble::missing);
  return node;
}

Where Fields::where() const {
  return {file_, node_->line};
}

Where Fields::where(std::string_view key) const {
  const Node* node = node_->find(key);
  return {file_, node != nullptr ? node->line : node_->line, FieldName(path_ + printable(key))};
}

void Fields::fail(std::string_view key, std::string message, Trouble kind) {
  problems_->push_back({where(key), std::move(message), kind});
}

std::string Fields::text(std::string_view key) {
  const Node* node = require(key);
  if (node == nullptr) return {};
  if (const auto* value = std::get_if<std::string>(&node->value)) return *value;
  const bool bare = std::holds_alternative<std::int64_t>(node->value) ||
                    std::holds_alternative<double>(node->value);
  fail(key, bare ? "must be text in quotes, with its unit if it is a quantity" : "must be text",
       Trouble::malformed);
  return {};
}

std::string Fields::text_or(std::string_view key, std::string_view fallback) {
  return has(key) ? text(key) : (ask(key), std::string(fallback));
}

std::int64_t Fields::integer(const Node& node, std::string_view key, std::int64_t least) {
  std::int64_t number = 0;
  if (const auto* value = std::get_if<std::int64_t>(&node.value)) {
    number = *value;
  } else if (const auto* real = std::get_if<double>(&node.value);
             real != nullptr && std::abs(*real) <= 9e15 && *real == std::floor(*real)) {
    number = static_cast<std::int64_t>(*real);
  } else {
    fail(key, "must be a whole number", Trouble::malformed);
    return 0;
  }
  if (number < least || number > kLargestCount) {
    fail(key, "is " + std::to_string(number) + "; must be a whole number from " +
                  std::to_string(least) + " to 10^15");
    return 0;
  }
  return number;
}

std::int64_t Fields::count(std::string_view key) {
  const Node* node = require(key);
  return node != nullptr ? integer(*node, key, 1) : 0;
}

std::int64_t Fields::count_or(std::string_view key, std::int64_t fallback) {
  const Node* node = ask(key);
  return node != nullptr ? integer(*node, key, 1) : fallback;
}

std::int64_t Fields::natural(std::string_view key) {
  const Node* node = require(key);
  return node != nullptr ? integer(*node, key, 0) : 0;
}

std::int64_t Fields::natural_or(std::string_view key, std::int64_t fallback) {
  const Node* node = ask(key);
  return node != nullptr ? integer(*node, key, 0) : fallback;
}

double Fields::number(std::string_view key) {
  const Node* node = require(key);
  if (node == nullptr) return 0;
  if (const auto* whole = std::get_if<std::int64_t>(&node->value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* real = std::get_if<double>(&node->value); real && std::isfinite(*real)) {
    return *real + 0.0;  // -0 becomes 0
  }
  fail(key, "must be a finite number", Trouble::malformed);
  return 0;
}

double Fields::number_or(std::string_view key, double fallback) {
  return has(key) ? number(key) : (ask(key), fallback);
}

bool Fields::flag_or(std::string_view key, bool fallback) {
  const Node* node = ask(key);
  if (node == nullptr) return fallback;
  if (const auto* value = std::get_if<bool>(&node->value)) return *value;
  fail(key, "must be true or false", Trouble::malformed);
  return fallback;
}

std::vector<std::int64_t> Fields::naturals_or_empty(std::string_view key) {
  std::vector<std::int64_t> out;
  const Node* node = ask(key);
  if (node == nullptr) return out;
  const Node::Array* array = node->array();
  if (array == nullptr)
    return fail(key, "must be a list of whole numbers", Trouble::malformed), out;
  for (const Node& element : *array) out.push_back(integer(element, key, 0));
  return out;
}

std::vector<std::string> Fields::texts_or_empty(std::string_view key) {
  std::vector<std::string> out;
  const Node* node = ask(key);
  if (node == nullptr) return out;
  const Node::Array* array = node->array();
  if (array == nullptr) return fail(key, "must be a list of texts", Trouble::malformed), out;
  for (const Node& element : *array) {
    if (const auto* value = std::get_if<std::string>(&element.value)) {
      out.push_back(*value);
    } else {
      fail(key, "must be a list of texts", Trouble::malformed);
    }
  }
  return out;
}

Fields Fields::table(std::string_view key, bool required) {
  const Node* node = required ? require(key) : ask(key);
  if (node != nullptr && node->table() == nullptr) {
    fail(key, "must be a table", Trouble::malformed);
    node = nullptr;
  }
  return Fields(node != nullptr ? *node : kEmptyTable, file_, path_ + printable(key) + ".",
                *problems_);
}

std::vector<Fields> Fields::tables(std::string_view key) {
  std::vector<Fields> out;
  const Node* node = ask(key);
  if (node == nullptr) return out;
  const Node::Array* array = node->array();
  if (array == nullptr) return fail(key, "must be a list of tables", Trouble::malformed), out;
  for (std::size_t i = 0; i < array->size(); ++i) {
    if ((*array)[i].table() == nullptr) {
      fail(key, "must be a list of tables", Trouble::malformed);
      continue;
    }
    out.emplace_back((*array)[i], file_, path_ + printable(key) + "[" + std::to_string(i) + "].",
                     *problems_);
  }
  return out;
}

std::vector<std::string> Fields::keys() const {
  std::vector<std::string> out;
  if (const Node::Table* members = node_->table()) {
    for (const auto& member : *members) out.push_back(member.first);
  }
  return out;
}

void Fields::reject_unknown() {
  for (const std::string& key : keys()) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
      fail(key, "is not a known field" + suggestion(key, asked_), Trouble::unknown);
    }
  }
}

}  // namespace headway

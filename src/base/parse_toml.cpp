// The one translation unit that includes toml++.
#define TOML_EXCEPTIONS 0
// Without NDEBUG toml++ aborts on some invalid text that it otherwise reports as an error.
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "base/document.hpp"
#include "base/text.hpp"
#include "base/toml_trouble.hpp"

namespace headway {
namespace {

// Clears `shallow` and goes no further where `from` nests deeper than `levels`.
Node convert(const toml::node& from, int levels, bool& shallow) {
  Node node;
  node.line = static_cast<int>(from.source().begin.line);
  if ((from.is_table() || from.is_array()) && levels == 0) {
    shallow = false;
    return node;
  }
  if (const auto* table = from.as_table()) {
    struct Member {
      toml::source_position position;
      std::string_view key;
      const toml::node* value;
    };
    std::vector<Member> sorted;
    for (const auto& [key, value] : *table) {
      sorted.push_back({key.source().begin, key.str(), &value});
    }
    // toml++ sorts keys; messages should follow the file.
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Member& a, const Member& b) { return a.position < b.position; });
    Node::Table members;
    for (const Member& member : sorted) {
      Node& value =
          members.emplace_back(member.key, convert(*member.value, levels - 1, shallow)).second;
      // A member stands where its key stands, also when its value is a table.
      value.line = static_cast<int>(member.position.line);
    }
    node.value = std::move(members);
  } else if (const auto* array = from.as_array()) {
    Node::Array elements;
    for (const auto& value : *array) elements.push_back(convert(value, levels - 1, shallow));
    node.value = std::move(elements);
  } else if (const auto* text = from.as_string()) {
    node.value = text->get();
  } else if (const auto* whole = from.as_integer()) {
    node.value = whole->get();
  } else if (const auto* real = from.as_floating_point()) {
    node.value = real->get();
  } else if (const auto* flag = from.as_boolean()) {
    node.value = flag->get();
  } else {
    // Dates: kept as the text that stands in the file.
    std::ostringstream text_form;
    if (const auto* date = from.as_date()) text_form << date->get();
    if (const auto* time = from.as_time()) text_form << time->get();
    if (const auto* both = from.as_date_time()) text_form << both->get();
    node.value = text_form.str();
  }
  return node;
}

}  // namespace

Result<Document> parse_toml(std::string_view text, std::string file) {
  if (text.size() > kLargestDocument) return Problem{file, "is larger than 16 MiB"};
  if (const auto trouble = find_toml_trouble(text)) {
    return Problem{file + ":" + std::to_string(trouble->line), trouble->message};
  }
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    const auto& error = parsed.error();
    return Problem{file + ":" + std::to_string(error.source().begin.line),
                   "is not valid TOML: " + printable(error.description(), 200)};
  }
  bool shallow = true;
  Node root = convert(parsed.table(), kDeepestNesting, shallow);
  if (!shallow) return Problem{file, "is nested deeper than 64 levels"};
  return Document{std::move(file), std::move(root)};
}

}  // namespace headway

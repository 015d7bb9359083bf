// The one translation unit that includes toml++.
#define TOML_EXCEPTIONS 0
#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "base/document.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

// TOML forbids control characters everywhere, but for tabs and line ends (LF, CR LF); toml++ lets
// some pass. Returns the line of the first one, or 0.
int line_of_control_character(std::string_view text) {
  int line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') ++line;
    const bool line_end = byte == '\n' || (byte == '\r' && text.substr(i + 1, 1) == "\n");
    if ((byte < 0x20 && byte != '\t' && !line_end) || byte == 0x7f) return line;
  }
  return 0;
}

// toml++ 3.3 limits how deep values nest, but not the length of a dotted key (a.b.c. ... = 1),
// which nests tables just as deep and would exhaust the stack. Returns the line of the first key of
// more than `most` parts, or 0. Text that is no valid TOML may be misread, from its first error on.
int line_of_long_key(std::string_view text, int most) {
  int line = 1;
  int parts = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      if (++parts > most) return line;
    } else if (c == '\n') {
      ++line;
      parts = 1;
    } else if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '"' || c == '\'') {
      const bool block = text.substr(i, 3) == std::string(3, c);
      const std::string_view quote = text.substr(i, block ? 3 : 1);
      for (i += quote.size(); i < text.size() && text.substr(i, quote.size()) != quote; ++i) {
        if (text[i] == '\n' && !block) break;
        if (text[i] == '\n') ++line;
        if (text[i] == '\\' && c == '"' && i + 1 < text.size() && text[i + 1] != '\n') ++i;
      }
      if (i < text.size() && text[i] == '\n') {
        --i;
      } else {
        i = std::min(i + quote.size(), text.size()) - 1;
        // A block may end with one or two quotes of its own before the closing three.
        for (int own = 0; block && own < 2 && text.substr(i + 1, 1) == quote.substr(0, 1); ++own)
          ++i;
      }
    } else if (c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') {
      parts = 1;
    }
  }
  return 0;
}

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
  if (const int line = line_of_control_character(text); line != 0) {
    return Problem{file + ":" + std::to_string(line),
                   "is not valid TOML: it holds a control character"};
  }
  if (const int line = line_of_long_key(text, kDeepestNesting); line != 0) {
    return Problem{file + ":" + std::to_string(line), "is nested deeper than 64 levels"};
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

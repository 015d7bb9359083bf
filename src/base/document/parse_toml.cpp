// The one translation unit that includes toml++.
#define TOML_EXCEPTIONS 0
// Some of what toml++ asserts does not hold for invalid text, which it reports as an error all the
// same. Its assertions would abort, and with NDEBUG they are assumptions that clang builds upon.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "base/document/document.hpp"
#include "base/document/toml_ascii.hpp"
#include "base/document/toml_depth.hpp"
#include "base/text.hpp"

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
      Node& value = members
                        .emplace_back(from_toml_in_ascii(member.key),
                                      convert(*member.value, levels - 1, shallow))
                        .second;
      // A member stands where its key stands, also when its value is a table.
      value.line = static_cast<int>(member.position.line);
    }
    node.value = std::move(members);
  } else if (const auto* array = from.as_array()) {
    Node::Array elements;
    for (const auto& value : *array) elements.push_back(convert(value, levels - 1, shallow));
    node.value = std::move(elements);
  } else if (const auto* text = from.as_string()) {
    node.value = from_toml_in_ascii(text->get());
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

// The line with what toml++ says of it, in the words of the file.
Problem problem_of(const toml::parse_error& error, std::string_view ascii,
                   const std::string& file) {
  const toml::source_position at = error.source().begin;
  for (auto line = at.line; line > 1; --line) {
    ascii.remove_prefix(std::min(ascii.find('\n'), ascii.size() - 1) + 1);
  }
  ascii.remove_prefix(std::min<std::size_t>(at.column - 1, ascii.size()));
  // The character at which it stopped, if that stands there as an escape: it may quote it.
  const std::string character =
      ascii.starts_with('`') ? from_toml_in_ascii(ascii.substr(0, ascii.find(';') + 1)) : "";
  std::string message =
      "is not valid TOML: " + printable(from_toml_in_ascii(error.description(), character), 200);
  if (character.size() > 1) message += " (a character outside ASCII)";
  return {{file, static_cast<int>(at.line)}, std::move(message), Trouble::malformed};
}

}  // namespace

Result<Document> parse_toml(std::string_view text, std::string file) {
  if (text.size() > kLargestDocument)
    return Problem{file, "is larger than 16 MiB", Trouble::unreadable};
  const Result<std::string> ascii = toml_in_ascii(text, file);
  if (!ascii) return ascii.problems();
  if (const auto line = line_of_deep_key(*ascii)) {
    return Problem{
        {file, static_cast<int>(*line)}, "is nested deeper than 64 levels", Trouble::malformed};
  }
  const toml::parse_result parsed = toml::parse(*ascii, file);
  if (!parsed) return problem_of(parsed.error(), *ascii, file);
  bool shallow = true;
  Node root = convert(parsed.table(), kDeepestNesting, shallow);
  if (!shallow) return Problem{file, "is nested deeper than 64 levels", Trouble::malformed};
  return Document{std::move(file), std::move(root)};
}

}  // namespace headway

// What must hold for whatever a document parser was given.
#pragma once

#include <cstdlib>
#include <string>

#include "base/document/document.hpp"

namespace headway::fuzz {

/// Ends the program where `holds` is false.
inline void require(bool holds) {
  if (!holds) std::abort();
}

inline bool harmless(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

inline void check(const Problems& problems) {
  for (const Problem& problem : problems) {
    require(!where_text(problem).empty() && !problem.message.empty());
    require(harmless(where_text(problem)) && harmless(problem.message));
  }
}

/// Lines lie within the text, and nothing nests deeper than is promised.
inline void check(const Node& node, int most_lines, int levels_left) {
  require(node.line >= 0 && node.line <= most_lines);
  if (const Node::Array* array = node.array()) {
    require(levels_left > 0);
    for (const Node& element : *array) check(element, most_lines, levels_left - 1);
  }
  if (const Node::Table* table = node.table()) {
    require(levels_left > 0);
    for (const auto& [key, value] : *table) check(value, most_lines, levels_left - 1);
  }
}

inline void check(const Result<Document>& result, std::string_view text) {
  if (!result) {
    require(!result.problems().empty());
    return check(result.problems());
  }
  require(result->root.table() != nullptr);
  int lines = 1;
  for (const char c : text) lines += c == '\n';
  check(result->root, lines, kDeepestNesting);

  Problems problems;
  Fields fields(*result, problems);
  for (const std::string& key : fields.keys()) {
    fields.text(key);
    fields.count(key);
    fields.natural(key);
    fields.number(key);
    fields.flag_or(key, false);
    fields.naturals_or_empty(key);
    fields.texts_or_empty(key);
    fields.quantity<Bytes>(key);
    fields.table(key).reject_unknown();
    for (Fields& element : fields.tables(key)) element.reject_unknown();
  }
  fields.reject_unknown();
  check(problems);

  Node twice = result->root;
  overlay(twice, result->root);
  require(twice.table()->size() == result->root.table()->size());
}

}  // namespace headway::fuzz

// Documents as tests ask about them.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/document/document.hpp"

namespace headway {

inline Node toml(std::string_view text) {
  const Result<Document> document = parse_toml(text, "f.toml");
  if (document.ok()) return document->root;
  ADD_FAILURE() << where_text(document.problems()[0]) << " " << document.problems()[0].message;
  return Node{Node::Table{}, 0};
}

inline std::string said(const Result<Document>& document) {
  if (document.ok()) return "no problem";
  return where_text(document.problems()[0]) + " " + document.problems()[0].message;
}

// The line of the member that a path leads to.
inline int line_of(const Node& root, std::initializer_list<std::string_view> path) {
  const Node* node = &root;
  for (const std::string_view key : path) {
    node = node->find(key);
    if (node == nullptr) return -1;
  }
  return node->line;
}

inline std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace headway

// Reading a configuration that is a tree of tables: TOML, JSON or YAML. Internal to src/launch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "launch/parts.hpp"

namespace headway::launch {

/// A value as text; empty where it is null, a list or a table.
std::string scalar_text(const Node& node);

/// Looks up options by their table ("" for the root, "model.model_config" for one in another) and
/// gathers the fields that they make, each with its place.
class DocumentReader {
 public:
  DocumentReader(const Document& document, Problems& problems)
      : document_(document), problems_(problems) {}

 protected:
  const Node* find(std::string_view table, std::string_view key) const;
  /// "table.key"; at the line of the table where the option is absent.
  Where at(std::string_view table, std::string_view key) const;
  void add(std::string_view field, std::string text, std::string_view table, std::string_view key);
  /// The value as text; empty where it is absent, null or a list.
  std::string text(std::string_view table, std::string_view key) const;
  /// A whole number, at most a million; `usual` where there is none.
  std::int64_t degree(std::string_view table, std::string_view key, std::int64_t usual) const;
  bool flag(std::string_view table, std::string_view key, bool usual) const;
  /// The option's value as the field's, where it is there.
  void copy(std::string_view table, std::string_view key, std::string_view field);
  void fail(std::string_view table, std::string_view key, std::string message);

  const Document& document_;
  Problems& problems_;
  LaunchRequest out_;

 private:
  const Node* table_of(std::string_view table) const;
};

}  // namespace headway::launch

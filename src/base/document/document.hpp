// A TOML, JSON or YAML file as a tree of values that know their line, and typed access to it
// that gathers every problem instead of stopping at the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/quantity_text.hpp"
#include "base/result.hpp"

namespace headway {

/// One value with its line (1-based; 0 where the value has none, as a command-line flag).
struct Node {
  using Array = std::vector<Node>;
  struct Member;
  using Table = std::vector<Member>;  // in the order of the file
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> value;
  int line = 0;

  bool is_null() const { return std::holds_alternative<std::monostate>(value); }
  const Table* table() const { return std::get_if<Table>(&value); }
  const Array* array() const { return std::get_if<Array>(&value); }
  /// The member of this table, or nullptr.
  const Node* find(std::string_view key) const;
};
struct Node::Member {
  std::string first;  // its name
  Node second;
};

struct Document {
  std::string file;  // as shown in messages
  Node root;         // a table
};

/// The largest input that is read, in bytes.
constexpr std::size_t kLargestDocument = 16 * 1024 * 1024;
/// The deepest nesting of tables and lists, the root included.
constexpr int kDeepestNesting = 64;

/// Parse `text`; `file` is only shown in messages. The root must be a table. Nesting deeper than 64
/// levels, input over 16 MiB and a key that stands twice in one table are problems.
Result<Document> parse_toml(std::string_view text, std::string file);
Result<Document> parse_json(std::string_view text, std::string file);

/// YAML, its first document; aliases are problems, and so is input over 1 MiB.
Result<Document> parse_yaml(std::string_view text, std::string file);

/// Puts the members of `over` into `base`, table by table; other values replace those of `base`.
void overlay(Node& base, const Node& over);

/// What is said of the node, and of all in it, has no line: it comes from another file.
void forget_lines(Node& node);

/// Typed access to the members of one table. What is missing or wrong is added to `problems` with
/// file:line and the field's path, and a harmless value (0, "", false) is returned instead, so that
/// one pass reports everything.
class Fields {
 public:
  Fields(const Document& document, Problems& problems);
  Fields(const Node& table, std::string file, std::string path, Problems& problems);

  bool has(std::string_view key) const;  // present and not null

  std::string text(std::string_view key);
  std::string text_or(std::string_view key, std::string_view fallback);
  std::int64_t count(std::string_view key);                              // 1 ... 10^15
  std::int64_t count_or(std::string_view key, std::int64_t fallback);    // 1 ... 10^15
  std::int64_t natural(std::string_view key);                            // 0 ... 10^15
  std::int64_t natural_or(std::string_view key, std::int64_t fallback);  // 0 ... 10^15
  double number(std::string_view key);                                   // finite
  double number_or(std::string_view key, double fallback);               // finite
  bool flag_or(std::string_view key, bool fallback);
  std::vector<std::int64_t> naturals_or_empty(std::string_view key);
  std::vector<std::string> texts_or_empty(std::string_view key);

  /// A positive quantity written with its unit.
  template <class Q>
  Q quantity(std::string_view key) {
    const std::size_t before = problems_->size();
    const std::string written = text(key);
    return problems_->size() > before ? Q() : parsed<Q>(key, written);
  }
  template <class Q>
  Q quantity_or(std::string_view key, Q fallback) {
    return has(key) ? quantity<Q>(key) : (ask(key), fallback);
  }

  /// The sub-table `key`; an empty one where it is missing (a problem only if `required`).
  Fields table(std::string_view key, bool required = false);
  /// The array of tables `key`; empty where it is missing.
  std::vector<Fields> tables(std::string_view key);
  /// The names of all members.
  std::vector<std::string> keys() const;

  /// A problem for each member that no call above asked for, with the nearest name.
  void reject_unknown();

  /// Adds a problem at `key`.
  void fail(std::string_view key, std::string message, Trouble kind = Trouble::illegal);
  /// This table; its member `key`.
  Where where() const;
  Where where(std::string_view key) const;

 private:
  const Node* ask(std::string_view key);
  const Node* require(std::string_view key);
  std::int64_t integer(const Node& node, std::string_view key, std::int64_t least);
  template <class Q>
  Q parsed(std::string_view key, const std::string& written) {
    const Result<Q> result = parse_quantity<Q>(written, where(key));
    if (!result) return append(*problems_, result.problems()), Q();
    if (result->value() <= 0) return fail(key, "must be greater than zero"), Q();
    return *result;
  }

  const Node* node_;
  std::string file_;
  std::string path_;
  Problems* problems_;
  std::vector<std::string> asked_;
};

}  // namespace headway

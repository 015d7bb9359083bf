// Arithmetic over the members of a document: "hidden_size / num_attention_heads", "mlp_ratio * i".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/document/document.hpp"

namespace headway::templates {

/// What a name stands for.
using Value = std::variant<double, std::string, std::vector<double>>;

/// Names and what they stand for: members of a document by their path ("text_config.hidden_size"),
/// numbers, texts, flags as 1 and 0, lists of numbers; others laid over them.
class Scope {
 public:
  explicit Scope(const Node& document) : document_(&document) {}

  void set(std::string name, Value value);
  /// What was set, or of the document; nothing where there is none, or it is null or a table.
  std::optional<Value> find(std::string_view name) const;

 private:
  const Node* document_;
  std::vector<std::pair<std::string, Value>> values_;
};

/// What is wrong with an expression: the name that nothing says or that says what cannot be
/// computed with (empty: the expression itself), and why.
struct Fault {
  std::string name;
  std::string why;
  bool missing = false;
};

/// Numbers, 'texts', names, name[i]; + - * / (whole, rounded down) % ^, == != < <= > >=, and, or,
/// not; has(name), size(list), sum(list), min(a, b), max(a, b), up(a, b): a / b rounded up. Truth
/// is 1, its opposite 0. Operands of `and` and `or` behind one that decides are not asked for.
std::variant<Value, Fault> evaluate(std::string_view expression, const Scope& scope);

}  // namespace headway::templates

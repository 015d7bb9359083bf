#include "model/template/expand.hpp"

#include <cmath>
#include <string>

namespace headway::templates {
namespace {

constexpr std::size_t kMostNodes = 200'000;
constexpr double kMostTimes = 1'000;
constexpr double kMostNumber = 1e15;
constexpr std::string_view kMark = "= ";

class Expander {
 public:
  Expander(Scope& scope, std::vector<Fault>& faults) : scope_(scope), faults_(faults) {}

  Node node(const Node& from) {
    if (++made_ > kMostNodes) return {};
    if (const auto* text = std::get_if<std::string>(&from.value)) return of_text(*text);
    if (const Node::Array* list = from.array()) return {array(*list), 0};
    if (const Node::Table* members = from.table()) return {table(*members), 0};
    return {from.value, 0};
  }

 private:
  double number(std::string_view expression) {
    const std::variant<Value, Fault> said = evaluate(expression, scope_);
    if (const auto* fault = std::get_if<Fault>(&said)) {
      faults_.push_back(*fault);
      return 0;
    }
    const auto* number = std::get_if<double>(&std::get<Value>(said));
    if (number != nullptr && std::abs(*number) <= kMostNumber) return *number;
    faults_.push_back({"", std::string(expression) +
                               (number == nullptr ? " is no number" : " is implausibly large")});
    return 0;
  }
  Node of_text(const std::string& text) {
    if (!text.starts_with(kMark)) return {filled(text), 0};
    return {static_cast<std::int64_t>(number(std::string_view(text).substr(kMark.size()))), 0};
  }
  std::string filled(std::string text) {
    for (std::size_t at = 0; (at = text.find('{', at)) != std::string::npos;) {
      const std::size_t end = text.find('}', at);
      if (end == std::string::npos) break;
      const double said = number(std::string_view(text).substr(at + 1, end - at - 1));
      text.replace(at, end - at + 1, std::to_string(static_cast<std::int64_t>(said)));
    }
    return text;
  }
  // True and false are no numbers in a document.
  static bool is_flag(std::string_view key) {
    for (const char* each :
         {"bias", "key_bias", "gated", "added", "shared", "valid", "loss", "out_bias"}) {
      if (key == each) return true;
    }
    return false;
  }
  Node::Table table(const Node::Table& members) {
    Node::Table out;
    for (const auto& [key, value] : members) {
      if (key == "when" || key == "for") continue;
      Node made = node(value);
      const auto* whole = std::get_if<std::int64_t>(&made.value);
      if (whole != nullptr && is_flag(key)) made = {*whole != 0, 0};
      out.push_back({key, std::move(made)});
    }
    return out;
  }
  Node::Array array(const Node::Array& list) {
    Node::Array out;
    for (const Node& each : list) {
      const auto* times = text_of(each, "for");
      if (times == nullptr) {
        add(out, each);
        continue;
      }
      const double count = number(*times);
      if (count > kMostTimes) {
        faults_.push_back({"", *times + " is implausibly large"});
        continue;
      }
      const char* index = depth_++ == 0 ? "i" : "j";
      for (double i = 0; i < count; ++i) {
        scope_.set(index, i);
        add(out, each);
      }
      --depth_;
    }
    return out;
  }
  void add(Node::Array& out, const Node& each) {
    if (const auto* when = text_of(each, "when"); when != nullptr && number(*when) == 0) return;
    out.push_back(node(each));
  }
  static const std::string* text_of(const Node& table, std::string_view key) {
    const Node* found = table.table() != nullptr ? table.find(key) : nullptr;
    return found != nullptr ? std::get_if<std::string>(&found->value) : nullptr;
  }

  Scope& scope_;
  std::vector<Fault>& faults_;
  std::size_t made_ = 0;
  int depth_ = 0;
};

}  // namespace

Node expand(const Node& node, Scope& scope, std::vector<Fault>& faults) {
  return Expander(scope, faults).node(node);
}

}  // namespace headway::templates

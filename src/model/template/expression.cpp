#include "model/template/expression.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace headway::templates {
namespace {

constexpr int kDeepest = 64;

std::optional<Value> value_of(const Node& node) {
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag ? 1.0 : 0.0;
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* real = std::get_if<double>(&node.value)) return *real;
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  const Node::Array* list = node.array();
  if (list == nullptr) return std::nullopt;
  std::vector<double> out;
  for (const Node& each : *list) {
    const std::optional<Value> value = value_of(each);
    if (!value || !std::holds_alternative<double>(*value)) return std::nullopt;
    out.push_back(std::get<double>(*value));
  }
  return out;
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// A parser that computes; `live_` is false in what need not be asked for.
class Parser {
 public:
  Parser(std::string_view text, const Scope& scope) : left_(text), scope_(scope) {}

  std::variant<Value, Fault> run() {
    Value out = either();
    skip();
    if (!fault_ && !left_.empty()) wrong();
    if (fault_) return *fault_;
    return out;
  }

 private:
  void skip() {
    while (!left_.empty() && left_.front() == ' ') left_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip();
    if (!left_.starts_with(token)) return false;
    const bool word = is_name(token.front());
    if (word && left_.size() > token.size() && is_name(left_[token.size()])) return false;
    left_.remove_prefix(token.size());
    return true;
  }
  Value fail(std::string name, std::string why, bool missing = false) {
    if (!fault_ && live_) fault_ = Fault{std::move(name), std::move(why), missing};
    return 0.0;
  }
  Value wrong() {
    live_ = true;
    left_ = {};
    return fail("", "is no expression");
  }
  double number(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) return *number;
    fail(last_, "must be a number");
    return 0;
  }

  Value either() { return joined("or", true, &Parser::both); }
  Value both() { return joined("and", false, &Parser::compared); }
  Value joined(std::string_view word, bool decides, Value (Parser::*operand)()) {
    Value out = (this->*operand)();
    while (!fault_ && take(word)) {
      const bool decided = (number(out) != 0) == decides;
      const bool outside = live_;
      live_ = live_ && !decided;
      const Value next = (this->*operand)();
      const double truth = live_ ? number(next) : 0;
      live_ = outside;
      out = decided ? (decides ? 1.0 : 0.0) : (truth != 0 ? 1.0 : 0.0);
    }
    return out;
  }
  Value compared() {
    if (take("not")) return number(compared()) == 0 ? 1.0 : 0.0;
    const Value a = sum();
    if (take("==")) return a == sum() ? 1.0 : 0.0;
    if (take("!=")) return a != sum() ? 1.0 : 0.0;
    if (take("<=")) return number(a) <= number(sum()) ? 1.0 : 0.0;
    if (take(">=")) return number(a) >= number(sum()) ? 1.0 : 0.0;
    if (take("<")) return number(a) < number(sum()) ? 1.0 : 0.0;
    if (take(">")) return number(a) > number(sum()) ? 1.0 : 0.0;
    return a;
  }
  Value sum() {
    Value out = product();
    while (!fault_) {
      if (take("+")) {
        out = number(out) + number(product());
      } else if (take("-")) {
        out = number(out) - number(product());
      } else {
        break;
      }
    }
    return out;
  }
  Value product() {
    Value out = power();
    while (!fault_) {
      if (take("*")) {
        out = number(out) * number(power());
      } else if (take("/")) {
        out = quotient(number(out), number(power()));
      } else if (take("%")) {
        const double a = number(out), b = number(power());
        out = a - b * std::get<double>(quotient(a, b));
      } else {
        break;
      }
    }
    return out;
  }
  Value quotient(double a, double b) {
    if (b == 0) return fail(last_, "must not be 0");
    return std::floor(a / b);
  }
  Value power() {
    Value out = operand();
    if (!fault_ && take("^")) out = std::pow(number(out), number(power()));
    return out;
  }
  Value operand() {
    if (++depth_ > kDeepest) return wrong();
    Value out = atom();
    --depth_;
    return out;
  }
  Value atom() {
    if (take("(")) {
      Value out = either();
      return take(")") ? out : wrong();
    }
    skip();
    if (left_.empty()) return wrong();
    if (left_.front() == '\'') {
      const std::size_t end = left_.find('\'', 1);
      if (end == std::string_view::npos) return wrong();
      Value out = std::string(left_.substr(1, end - 1));
      left_.remove_prefix(end + 1);
      return out;
    }
    const std::size_t end = static_cast<std::size_t>(
        std::find_if_not(left_.begin(), left_.end(), is_name) - left_.begin());
    const std::string_view word = left_.substr(0, end);
    if (word.empty()) return wrong();
    left_.remove_prefix(end);
    if (word.front() >= '0' && word.front() <= '9') {
      double out = 0;
      const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), out);
      return error == std::errc() && rest == word.data() + word.size() ? Value(out) : wrong();
    }
    if (take("(")) return called(word);
    return named(word);
  }
  Value named(std::string_view word) {
    last_ = std::string(word);
    const std::optional<Value> found = live_ ? scope_.find(word) : std::nullopt;
    if (!found) {
      if (take("[")) {
        either();
        if (!take("]")) return wrong();
      }
      return fail(std::string(word), "is missing", /*missing=*/true);
    }
    if (!take("[")) return *found;
    const double at = number(either());
    if (!take("]")) return wrong();
    const auto* list = std::get_if<std::vector<double>>(&*found);
    if (list == nullptr) return fail(std::string(word), "must be a list of numbers");
    if (!(at >= 0 && at < static_cast<double>(list->size()))) {
      return fail(std::string(word), "has too few numbers");
    }
    return (*list)[static_cast<std::size_t>(at)];
  }
  Value called(std::string_view function) {
    if (function == "has" || function == "size" || function == "sum") return of_name(function);
    const double a = number(either());
    if (!take(",")) return wrong();
    const double b = number(either());
    if (!take(")")) return wrong();
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    if (function == "up") return std::get<double>(quotient(a + b - 1, b));
    return wrong();
  }
  Value of_name(std::string_view function) {
    skip();
    const std::size_t end = static_cast<std::size_t>(
        std::find_if_not(left_.begin(), left_.end(), is_name) - left_.begin());
    const std::string word(left_.substr(0, end));
    left_.remove_prefix(end);
    if (word.empty() || !take(")")) return wrong();
    const std::optional<Value> found = scope_.find(word);
    if (function == "has") return found ? 1.0 : 0.0;
    if (!found) return fail(word, "is missing", /*missing=*/true);
    const auto* list = std::get_if<std::vector<double>>(&*found);
    if (list == nullptr) return fail(word, "must be a list of numbers");
    if (function == "size") return static_cast<double>(list->size());
    return std::accumulate(list->begin(), list->end(), 0.0);
  }

  std::string_view left_;
  const Scope& scope_;
  std::optional<Fault> fault_;
  std::string last_;  // the name that was read last
  bool live_ = true;
  int depth_ = 0;
};

}  // namespace

void Scope::set(std::string name, Value value) {
  std::erase_if(values_, [&](const auto& each) { return each.first == name; });
  values_.emplace_back(std::move(name), std::move(value));
}

std::optional<Value> Scope::find(std::string_view name) const {
  for (const auto& [known, value] : values_) {
    if (known == name) return value;
  }
  const Node* node = document_;
  for (std::string_view path = name; node != nullptr;) {
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  return node != nullptr ? value_of(*node) : std::nullopt;
}

std::variant<Value, Fault> evaluate(std::string_view expression, const Scope& scope) {
  return Parser(expression, scope).run();
}

}  // namespace headway::templates

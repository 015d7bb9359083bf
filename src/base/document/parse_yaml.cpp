// The one translation unit that includes libyaml. Its events, not its tree: they know lines, and an
// alias is refused before it can unfold.
#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/document/document.hpp"
#include "base/document/yaml.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

// The value of a plain scalar, as YAML 1.2's core schema reads it.
Node scalar(std::string_view text, bool plain, int line) {
  if (!plain) return {std::string(text), line};
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return {std::monostate(), line};
  }
  if (text == "true" || text == "True" || text == "TRUE") return {true, line};
  if (text == "false" || text == "False" || text == "FALSE") return {false, line};
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const char* const end = digits.data() + digits.size();
  std::int64_t whole = 0;
  auto [rest, status] = std::from_chars(digits.data(), end, whole);
  if (status == std::errc() && rest == end) return {whole, line};
  double real = 0;
  const auto [real_rest, real_status] = std::from_chars(digits.data(), end, real);
  const bool number = digits.find_first_of("0123456789") != std::string_view::npos;
  if (number && real_status == std::errc() && real_rest == end) return {real, line};
  return {std::string(text), line};
}

class Reader {
 public:
  /// `twice`: where keys that stand twice are told of; null: they are problems.
  Reader(std::string_view text, std::string file, std::vector<std::string>* twice)
      : file_(std::move(file)), twice_(twice) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    clear();
    yaml_parser_delete(&parser_);
  }

  Result<Document> run() {
    Node root;
    if (advance() && advance()) {  // the stream, the first document
      if (event_.type != YAML_DOCUMENT_START_EVENT) {
        fail(1, "is empty; must be a table");
      } else if (advance()) {
        root = value(1);
      }
    }
    if (problems_.empty() && root.table() == nullptr) fail(1, "must be a table");
    if (!problems_.empty()) return problems_;
    return Document{std::move(file_), std::move(root)};
  }

 private:
  void fail(int line, std::string message) {
    if (problems_.empty()) {
      problems_.push_back({{file_, line}, std::move(message), Trouble::malformed});
    }
  }
  void clear() {
    if (holds_) yaml_event_delete(&event_);
    holds_ = false;
  }
  int line() const { return static_cast<int>(event_.start_mark.line) + 1; }

  bool advance() {
    if (!problems_.empty()) return false;
    clear();
    if (yaml_parser_parse(&parser_, &event_) == 0) {
      const char* const problem = parser_.problem != nullptr ? parser_.problem : "unreadable";
      fail(static_cast<int>(parser_.problem_mark.line) + 1,
           "is not valid YAML: " + printable(problem, 200));
      return false;
    }
    holds_ = true;
    return true;
  }

  std::string_view scalar_text() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

  // The value at the current event; the event after it is the current one then.
  Node value(int depth) {
    const int at = line();
    if (depth > kDeepestNesting) return fail(at, "is nested deeper than 64 levels"), Node();
    switch (event_.type) {
      case YAML_SCALAR_EVENT: {
        const bool plain = event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        Node out = scalar(scalar_text(), plain, at);
        advance();
        return out;
      }
      case YAML_SEQUENCE_START_EVENT:
        return sequence(at, depth);
      case YAML_MAPPING_START_EVENT:
        return mapping(at, depth);
      case YAML_ALIAS_EVENT:
        return fail(at, "is an alias; write the value out"), Node();
      default:
        return fail(at, "is not valid YAML"), Node();
    }
  }

  Node sequence(int at, int depth) {
    Node::Array out;
    advance();
    while (problems_.empty() && event_.type != YAML_SEQUENCE_END_EVENT) {
      out.push_back(value(depth + 1));
    }
    advance();
    return {std::move(out), at};
  }

  Node mapping(int at, int depth) {
    Node::Table out;
    advance();
    while (problems_.empty() && event_.type != YAML_MAPPING_END_EVENT) {
      const int key_line = line();
      if (event_.type != YAML_SCALAR_EVENT) {
        fail(key_line, "has a key that is no text");
        break;
      }
      std::string key(scalar_text());
      const auto before = std::find_if(out.begin(), out.end(),
                                       [&](const auto& member) { return member.first == key; });
      if (before != out.end()) again(*before, key_line, out);
      if (!advance()) break;
      Node member = value(depth + 1);
      member.line = key_line;
      out.emplace_back(std::move(key), std::move(member));
    }
    advance();
    return {std::move(out), at};
  }

  // The last of a key counts where anyone is told of it.
  void again(const Node::Table::value_type& before, int key_line, Node::Table& members) {
    const std::string what = "'" + printable(before.first) + "' stands twice";
    if (twice_ == nullptr) return fail(key_line, what);
    if (twice_->size() < kMostTwice) {
      twice_->push_back(file_ + ":" + std::to_string(key_line) + ": " + what +
                        ": this one counts, not that of line " +
                        std::to_string(before.second.line));
    }
    members.erase(members.begin() + (&before - members.data()));
  }

  static constexpr std::size_t kMostTwice = 10;
  std::string file_;
  std::vector<std::string>* twice_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool holds_ = false;
  Problems problems_;
};

Result<Document> parse(std::string_view text, std::string file, std::vector<std::string>* twice) {
  // Members of a table are looked for one by one: a configuration is small.
  constexpr std::size_t kLargestYaml = 1024 * 1024;
  if (text.data() == nullptr) text = "";  // the library asks for an address
  if (text.size() > kLargestYaml) return Problem{file, "is larger than 1 MiB", Trouble::unreadable};
  return Reader(text, std::move(file), twice).run();
}

}  // namespace

Result<Document> parse_yaml(std::string_view text, std::string file) {
  return parse(text, std::move(file), nullptr);
}

Result<Document> parse_yaml(std::string_view text, std::string file,
                            std::vector<std::string>& twice) {
  return parse(text, std::move(file), &twice);
}

}  // namespace headway

// The one translation unit of the base that includes nlohmann/json, as a SAX parser: the tree it
// builds knows lines, which the library's own tree does not.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/document/document.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

// The line of the character consumed last. A line break belongs to the line that it ends: the lexer
// reads one character past a number, which may be one.
struct Position {
  int line = 1;
  bool at_line_break = false;

  void consume(char c) {
    if (at_line_break) ++line;
    at_line_break = c == '\n';
  }
};

// Walks the text and tells `position` what the lexer has consumed.
class LineCountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineCountingIterator(const char* at, Position* position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  LineCountingIterator& operator++() {
    position_->consume(*at_++);
    return *this;
  }
  friend bool operator==(const LineCountingIterator& a, const LineCountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  Position* position_;
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const std::string& file, const Position* position)
      : file_(file), position_(position) {}

  bool null() override { return add(std::monostate()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return add(static_cast<double>(value));
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Node::Table()); }
  bool start_array(std::size_t) override { return open(Node::Array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    open_.back().key = std::move(name);
    open_.back().key_line = position_->line;
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    std::string what = error.what();
    if (const auto end = what.find("] "); end != std::string::npos) what = what.substr(end + 2);
    return fail(position_->line, "is not valid JSON: " + printable(what, 200));
  }

  Node root;
  Problem problem;

 private:
  struct Open {
    Node node;  // a list or table not yet closed
    std::string key;
    int key_line = 0;  // the key last seen in it, and its line
  };

  template <class T>
  bool add(T value) {
    return place(Node{std::move(value), position_->line});
  }
  template <class Container>
  bool open(Container container) {
    if (open_.size() >= kDeepestNesting) {
      return fail(position_->line, "is nested deeper than 64 levels");
    }
    open_.push_back({Node{std::move(container), position_->line}, {}, 0});
    return true;
  }
  bool close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    return keys_differ(node) && place(std::move(node));
  }
  bool place(Node node) {
    if (open_.empty()) {
      root = std::move(node);
      return true;
    }
    Open& outer = open_.back();
    if (auto* array = std::get_if<Node::Array>(&outer.node.value)) {
      array->push_back(std::move(node));
    } else {
      node.line = outer.key_line;  // a member stands where its key stands
      std::get<Node::Table>(outer.node.value).emplace_back(std::move(outer.key), std::move(node));
    }
    return true;
  }
  bool keys_differ(const Node& node) {
    const Node::Table* members = node.table();
    if (members == nullptr) return true;
    std::vector<std::pair<std::string_view, int>> keys;
    keys.reserve(members->size());
    for (const auto& [key, value] : *members) keys.emplace_back(key, value.line);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(
        keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice == keys.end()) return true;
    return fail(std::next(twice)->second, "has the key '" + printable(twice->first) +
                                              "' a second time; it stands on line " +
                                              std::to_string(twice->second));
  }
  bool fail(int line, std::string message) {
    problem = {{file_, line}, std::move(message), Trouble::malformed};
    return false;
  }

  const std::string& file_;
  const Position* position_;
  std::vector<Open> open_;
};

}  // namespace

Result<Document> parse_json(std::string_view text, std::string file) {
  if (text.size() > kLargestDocument)
    return Problem{file, "is larger than 16 MiB", Trouble::unreadable};
  // The lexer takes a NUL for the end of the text and would ignore what follows.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + nul, '\n');
    return Problem{{file, static_cast<int>(line)},
                   "is not valid JSON: it holds a NUL byte",
                   Trouble::malformed};
  }
  Position position;
  TreeBuilder builder(file, &position);
  const LineCountingIterator begin(text.data(), &position);
  const LineCountingIterator end(text.data() + text.size(), &position);
  if (!nlohmann::json::sax_parse(begin, end, &builder)) return std::move(builder.problem);
  if (builder.root.table() == nullptr)
    return Problem{{file, 1}, "must be a JSON object", Trouble::malformed};
  return Document{std::move(file), std::move(builder.root)};
}

}  // namespace headway

// A pickle is a program for a machine with a stack and a memo. Only the instructions that build
// plain data are known here (Lib/pickletools.py of Python documents all of them).
#include "trace/io/pickle.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/formatted.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostBytes = std::size_t{128} << 20;
constexpr std::size_t kMostValues = std::size_t{4} << 20;
constexpr std::size_t kMostJson = std::size_t{128} << 20;
constexpr int kDeepest = 64;

struct Value {
  enum class ValueKind : std::uint8_t {
    none,
    yes,
    no,
    integer,
    real,
    text,
    list,
    dictionary,
    mark
  };
  ValueKind kind = ValueKind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;             // within the pickle
  std::vector<std::uint32_t> items;  // of a dictionary: key, value, key, value ...
};
using ValueKind = Value::ValueKind;

class PickleMachine {
 public:
  explicit PickleMachine(std::string_view bytes) : bytes_(bytes) {}

  /// Empty where all went well; else why not.
  std::string run() {
    while (why_.empty()) {
      std::uint8_t code = 0;
      if (!take(code)) return "the pickle ends in the middle";
      if (code == '.') {
        if (stack_.empty()) return "the pickle holds nothing";
        return why_;
      }
      step(code);
    }
    return why_;
  }

  std::string json(std::string_view skipped) {
    std::string out;
    write(stack_.back(), 0, skipped, out);
    return out.size() > kMostJson ? std::string() : out;
  }

 private:
  void fail(std::string_view why) {
    if (why_.empty()) why_ = why;
  }

  template <class Number>
  bool take(Number& number) {
    if (bytes_.size() - at_ < sizeof number) return false;
    std::memcpy(&number, bytes_.data() + at_, sizeof number);
    at_ += sizeof number;
    return true;
  }
  template <class Number>
  std::uint64_t taken() {
    Number number{};
    if (!take(number)) fail("the pickle ends in the middle");
    return static_cast<std::uint64_t>(number);
  }
  std::string_view taken_bytes(std::uint64_t count) {
    if (bytes_.size() - at_ < count) {
      fail("the pickle ends in the middle");
      return {};
    }
    const std::string_view out = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += static_cast<std::size_t>(count);
    return out;
  }

  Value& push(ValueKind kind) {
    if (values_.size() >= kMostValues) fail("the pickle holds too many values");
    stack_.push_back(static_cast<std::uint32_t>(values_.size()));
    values_.emplace_back();
    values_.back().kind = kind;
    return values_.back();
  }
  void push_integer(std::int64_t integer) { push(ValueKind::integer).integer = integer; }
  void push_text(std::uint64_t size) {
    const std::string_view text = taken_bytes(size);
    push(ValueKind::text).text = text;
  }

  // LONG1: little-endian, in two's complement; what 64 bits do not hold is no count of anything.
  void push_long(std::uint64_t size) {
    const std::string_view digits = taken_bytes(size);
    if (digits.size() > 8) return fail("the pickle holds a number of more than 64 bits");
    std::uint64_t number = 0;
    if (!digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80) != 0)
      number = ~number;
    if (!digits.empty()) std::memcpy(&number, digits.data(), digits.size());
    push_integer(static_cast<std::int64_t>(number));
  }

  void push_real() {
    std::uint64_t bits = 0;  // big-endian
    for (const char byte : taken_bytes(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
    double real = 0;
    std::memcpy(&real, &bits, sizeof real);
    push(ValueKind::real).real = real;
  }

  // What lies above the last mark, which goes.
  std::vector<std::uint32_t> above_mark() {
    for (std::size_t i = stack_.size(); i-- > 0;) {
      if (values_[stack_[i]].kind != ValueKind::mark) continue;
      std::vector<std::uint32_t> out(stack_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                     stack_.end());
      stack_.resize(i);
      return out;
    }
    fail("the pickle is damaged: no mark");
    return {};
  }
  std::vector<std::uint32_t> last(std::size_t count) {
    if (stack_.size() < count) {
      fail("the pickle is damaged: too little on its stack");
      return {};
    }
    std::vector<std::uint32_t> out(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return out;
  }
  void extend(ValueKind kind, const std::vector<std::uint32_t>& items) {
    if (stack_.empty() || values_[stack_.back()].kind != kind ||
        (kind == ValueKind::dictionary && items.size() % 2 != 0)) {
      return fail("the pickle is damaged: items of nothing");
    }
    std::vector<std::uint32_t>& to = values_[stack_.back()].items;
    to.insert(to.end(), items.begin(), items.end());
  }
  void push_tuple(std::vector<std::uint32_t> items) {
    push(ValueKind::list).items = std::move(items);
  }

  void remember(std::uint64_t place) {
    if (stack_.empty()) return fail("the pickle is damaged: nothing to remember");
    memo_[place] = stack_.back();
  }
  void recall(std::uint64_t place) {
    const auto known = memo_.find(place);
    if (known == memo_.end()) return fail("the pickle is damaged: recalls what it never had");
    stack_.push_back(known->second);
    if (stack_.size() > kMostValues) fail("the pickle holds too many values");
  }

  void step(std::uint8_t code) {
    switch (code) {
      case 0x80:  // PROTO
        if (taken<std::uint8_t>() > 5) fail("the pickle is of an unknown protocol");
        break;
      case 0x95:  // FRAME
        taken<std::uint64_t>();
        break;
      case 'N':
        push(ValueKind::none);
        break;
      case 0x88:
        push(ValueKind::yes);
        break;
      case 0x89:
        push(ValueKind::no);
        break;
      case 'K':
        push_integer(static_cast<std::int64_t>(taken<std::uint8_t>()));
        break;
      case 'M':
        push_integer(static_cast<std::int64_t>(taken<std::uint16_t>()));
        break;
      case 'J':
        push_integer(static_cast<std::int64_t>(taken<std::int32_t>()));
        break;
      case 0x8a:
        push_long(taken<std::uint8_t>());
        break;
      case 'G':
        push_real();
        break;
      case 'X':
        push_text(taken<std::uint32_t>());
        break;
      case 0x8c:
        push_text(taken<std::uint8_t>());
        break;
      case 0x8d:
        push_text(taken<std::uint64_t>());
        break;
      case '(':
        push(ValueKind::mark);
        break;
      case ']':
      case ')':
        push(ValueKind::list);
        break;
      case '}':
        push(ValueKind::dictionary);
        break;
      case 'a':
        extend(ValueKind::list, last(1));
        break;
      case 'e':
        extend(ValueKind::list, above_mark());
        break;
      case 's':
        extend(ValueKind::dictionary, last(2));
        break;
      case 'u':
        extend(ValueKind::dictionary, above_mark());
        break;
      case 't':
        push_tuple(above_mark());
        break;
      case 0x85:
      case 0x86:
      case 0x87:
        push_tuple(last(code - 0x84u));
        break;
      case 'q':
        remember(taken<std::uint8_t>());
        break;
      case 'r':
        remember(taken<std::uint32_t>());
        break;
      case 0x94:
        remember(memo_.size());
        break;
      case 'h':
        recall(taken<std::uint8_t>());
        break;
      case 'j':
        recall(taken<std::uint32_t>());
        break;
      default:
        fail("the pickle holds more than plain data, which is never run");
    }
  }

  static void write_text(std::string_view text, std::string& out) {
    out += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) {
        out += c;
      } else {
        out += formatted("\\u%04x", static_cast<unsigned>(c));
      }
    }
    out += '"';
  }
  static void write_real(double real, std::string& out) {
    if (!std::isfinite(real)) {
      out += "null";
      return;
    }
    char text[40];
    out.append(text, std::to_chars(text, text + sizeof text, real).ptr);
  }

  // A value that lies too deep, or beyond what may be written, is null.
  void write(std::uint32_t index, int depth, std::string_view skipped, std::string& out) const {
    const Value& value = values_[index];
    switch (depth > kDeepest || out.size() > kMostJson ? ValueKind::none : value.kind) {
      case ValueKind::yes:
        out += "true";
        break;
      case ValueKind::no:
        out += "false";
        break;
      case ValueKind::integer:
        out += std::to_string(value.integer);
        break;
      case ValueKind::real:
        write_real(value.real, out);
        break;
      case ValueKind::text:
        write_text(value.text, out);
        break;
      case ValueKind::list:
        write_list(value, depth, skipped, out);
        break;
      case ValueKind::dictionary:
        write_dictionary(value, depth, skipped, out);
        break;
      default:
        out += "null";
    }
  }
  void write_list(const Value& value, int depth, std::string_view skipped, std::string& out) const {
    out += '[';
    for (std::size_t i = 0; i < value.items.size() && out.size() <= kMostJson; ++i) {
      if (i > 0) out += ',';
      write(value.items[i], depth + 1, skipped, out);
    }
    out += ']';
  }
  void write_dictionary(const Value& value, int depth, std::string_view skipped,
                        std::string& out) const {
    out += '{';
    bool first = true;
    for (std::size_t i = 0; i + 1 < value.items.size() && out.size() <= kMostJson; i += 2) {
      const Value& key = values_[value.items[i]];
      if (key.kind != ValueKind::text && key.kind != ValueKind::integer) continue;
      if (key.kind == ValueKind::text && !skipped.empty() && key.text == skipped) continue;
      if (!first) out += ',';
      first = false;
      write_text(key.kind == ValueKind::text ? std::string(key.text) : std::to_string(key.integer),
                 out);
      out += ':';
      write(value.items[i + 1], depth + 1, skipped, out);
    }
    out += '}';
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::vector<Value> values_;
  std::vector<std::uint32_t> stack_;
  std::unordered_map<std::uint64_t, std::uint32_t> memo_;
  std::string why_;
};

}  // namespace

Result<std::string> json_of_pickle(ByteSource& source, std::string_view skipped) {
  const std::string bytes = read_up_to(source, kMostBytes + 1);
  if (!source.damage().empty())
    return Problem{"pickle", std::string(source.damage()), Trouble::malformed};
  if (bytes.size() > kMostBytes)
    return Problem{"pickle", "the pickle is larger than 128 MiB", Trouble::unreadable};
  PickleMachine machine(bytes);
  if (const std::string why = machine.run(); !why.empty())
    return Problem{"pickle", why, Trouble::malformed};
  std::string json = machine.json(skipped);
  if (json.empty())
    return Problem{"pickle", "the pickle holds more than 128 MiB of data", Trouble::unreadable};
  return json;
}

}  // namespace headway

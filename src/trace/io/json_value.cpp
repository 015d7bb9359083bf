#include "trace/io/json_value.hpp"

#include <simdjson.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "trace/io/json_scan.hpp"

namespace headway {

using simdjson::dom::element;

struct JsonAccess {
  struct Words {
    const void* document;
    std::size_t index;
  };
  static_assert(sizeof(element) == sizeof(Words));

  static element to_element(const JsonValue& value) {
    return std::bit_cast<element>(Words{value.document_, value.index_});
  }
  static JsonValue from_element(const element& found) {
    const Words words = std::bit_cast<Words>(found);
    JsonValue value;
    value.document_ = words.document;
    value.index_ = words.index;
    return value;
  }
};

struct JsonParser::State {
  simdjson::dom::parser parser;
};

JsonParser::JsonParser() : state_(std::make_unique<State>()) {}
JsonParser::~JsonParser() = default;

JsonValue JsonParser::parse(std::string_view text) {
  static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);
  element root;
  if (state_->parser.parse(text.data(), text.size(), false).get(root) != simdjson::SUCCESS) {
    return {};
  }
  return JsonAccess::from_element(root);
}

JsonValue JsonParser::parse_copy(std::string_view text) {
  element root;
  if (state_->parser.parse(text.data(), text.size(), true).get(root) != simdjson::SUCCESS) {
    return {};
  }
  return JsonAccess::from_element(root);
}

JsonValue JsonValue::operator[](std::string_view key) const {
  element found;
  simdjson::dom::object object;
  if (!present() || JsonAccess::to_element(*this).get(object) != simdjson::SUCCESS ||
      object.at_key(key).get(found) != simdjson::SUCCESS) {
    return {};
  }
  return JsonAccess::from_element(found);
}

JsonValue JsonValue::at(std::size_t index) const {
  element found;
  simdjson::dom::array array;
  if (!present() || JsonAccess::to_element(*this).get(array) != simdjson::SUCCESS ||
      array.at(index).get(found) != simdjson::SUCCESS) {
    return {};
  }
  return JsonAccess::from_element(found);
}

std::optional<std::string_view> JsonValue::text() const {
  std::string_view text;
  if (!present() || JsonAccess::to_element(*this).get(text) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return text;
}

std::optional<double> JsonValue::number() const {
  double number = 0;
  if (!present()) return std::nullopt;
  if (JsonAccess::to_element(*this).get(number) == simdjson::SUCCESS) return number;
  if (const auto quoted = text()) {
    const auto read = std::from_chars(quoted->data(), quoted->data() + quoted->size(), number);
    if (read.ec == std::errc() && read.ptr == quoted->data() + quoted->size() &&
        std::isfinite(number)) {
      return number;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> JsonValue::integer() const {
  std::int64_t integer = 0;
  std::uint64_t unsigned_integer = 0;
  if (!present()) return std::nullopt;
  const element value = JsonAccess::to_element(*this);
  if (value.get(integer) == simdjson::SUCCESS) return integer;
  if (value.get(unsigned_integer) == simdjson::SUCCESS) return std::nullopt;  // beyond the range
  if (const auto quoted = text()) {
    const auto read = std::from_chars(quoted->data(), quoted->data() + quoted->size(), integer);
    if (read.ec == std::errc() && read.ptr == quoted->data() + quoted->size()) return integer;
    return std::nullopt;
  }
  const auto real = number();
  if (real && *real == std::floor(*real) && std::abs(*real) < 9e15) {
    return static_cast<std::int64_t>(*real);
  }
  return std::nullopt;
}

std::string JsonValue::label() const {
  if (const auto quoted = text()) return std::string(*quoted);
  if (const auto number = integer()) return std::to_string(*number);
  std::uint64_t unsigned_integer = 0;
  if (present() && JsonAccess::to_element(*this).get(unsigned_integer) == simdjson::SUCCESS) {
    return std::to_string(unsigned_integer);
  }
  return {};
}

bool JsonValue::is_true() const {
  bool is = false;
  return present() && JsonAccess::to_element(*this).get(is) == simdjson::SUCCESS && is;
}

bool JsonValue::is_array() const {
  return present() && JsonAccess::to_element(*this).is_array();
}

bool JsonValue::is_object() const {
  return present() && JsonAccess::to_element(*this).is_object();
}

std::size_t JsonValue::size() const {
  simdjson::dom::array array;
  if (!present() || JsonAccess::to_element(*this).get(array) != simdjson::SUCCESS) return 0;
  return array.size();
}

std::optional<std::int64_t> nanoseconds(double microseconds) {
  const double ns = microseconds * 1e3;
  if (!(std::abs(ns) < static_cast<double>(kMostNanoseconds))) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(ns));
}

std::optional<std::int64_t> JsonValue::microseconds_as_ns() const {
  std::int64_t whole = 0;
  if (present() && JsonAccess::to_element(*this).get(whole) == simdjson::SUCCESS) {
    constexpr std::int64_t kMost = kMostNanoseconds / 1000;
    if (whole > kMost || whole < -kMost) return std::nullopt;
    return whole * 1000;  // exact, which a double is not
  }
  const auto real = number();
  return real ? nanoseconds(*real) : std::nullopt;
}

void JsonValue::each_element(const JsonValue& value, void* context, Callback callback) {
  if (!value.present()) return;
  const element found = JsonAccess::to_element(value);
  simdjson::dom::array array;
  simdjson::dom::object object;
  if (found.get(array) == simdjson::SUCCESS) {
    for (const element child : array) callback(context, {}, JsonAccess::from_element(child));
  } else if (found.get(object) == simdjson::SUCCESS) {
    for (const auto& [key, child] : object) {
      callback(context, key, JsonAccess::from_element(child));
    }
  }
}

}  // namespace headway

// A parsed piece of JSON (simdjson behind it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headway {

/// Times that are read are at most 146 years from their zero, so that two of them have a
/// difference.
constexpr std::int64_t kMostNanoseconds = 4'600'000'000'000'000'000;

/// A value inside the piece that a JsonParser read last. Asking an absent value gives absent
/// values, so that value["args"]["stream"].integer() needs no checks in between.
class JsonValue {
 public:
  JsonValue() = default;

  bool present() const { return document_ != nullptr; }
  JsonValue operator[](std::string_view key) const;
  JsonValue at(std::size_t index) const;  // of an array

  std::optional<std::string_view> text() const;
  std::optional<std::int64_t> integer() const;  // also "12" in quotes, and 12.0
  std::optional<double> number() const;         // finite; also in quotes
  /// A text, or an integer of up to 64 bits in digits; empty for others.
  std::string label() const;
  bool is_true() const;
  bool is_array() const;
  bool is_object() const;
  std::size_t size() const;  // of an array

  /// A time in microseconds as nanoseconds; nothing beyond +-kMostNanoseconds.
  std::optional<std::int64_t> microseconds_as_ns() const;

  /// Calls `visit(element)` for each element of an array.
  template <class Visit>
  void each(Visit visit) const {
    each_element(*this, &visit, [](void* context, std::string_view, JsonValue element) {
      (*static_cast<Visit*>(context))(element);
    });
  }
  /// Calls `visit(key, value)` for each member of an object.
  template <class Visit>
  void each_member(Visit visit) const {
    each_element(*this, &visit, [](void* context, std::string_view key, JsonValue value) {
      (*static_cast<Visit*>(context))(key, value);
    });
  }

 private:
  friend class JsonParser;
  friend struct JsonAccess;
  using Callback = void (*)(void* context, std::string_view key, JsonValue value);
  static void each_element(const JsonValue& value, void* context, Callback callback);

  // A simdjson::dom::element, which is two words.
  const void* document_ = nullptr;
  std::size_t index_ = 0;
};

class JsonParser {
 public:
  JsonParser();
  ~JsonParser();

  /// Parses `text`, behind which kJsonPadding bytes must be readable. An absent value where it is
  /// no JSON. The value and its texts live until the next call.
  JsonValue parse(std::string_view text);

  /// The same for a text without bytes behind it; copies it.
  JsonValue parse_copy(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Microseconds to nanoseconds; nothing for what does not fit.
std::optional<std::int64_t> nanoseconds(double microseconds);

}  // namespace headway

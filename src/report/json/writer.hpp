// A JSON document written member by member, for documents that are asked for by the thousand: no
// tree of it is built. The text is that of document_text(), but for columns.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantity.hpp"

namespace headway {

/// Seconds rounded, for columns of thousands.
inline double to_nanosecond(Seconds time) {
  return std::round(time.value() * 1e9) / 1e9;
}

class JsonWriter {
 public:
  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  /// An array of thousands of numbers, on one line.
  template <class Numbers>
  void column(std::string_view name, const Numbers& numbers) {
    key(name);
    begin_array();
    in_line_ = true;
    for (const auto& number : numbers) value(number);
    in_line_ = false;
    empty_ = true;  // the bracket stands on the same line
    end_array();
  }
  /// The name of the next value, which is a plain word.
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth) { plain(truth ? "true" : "false"); }
  void value(double number);  // what is not finite is null
  void value(std::integral auto number) { whole(static_cast<std::int64_t>(number)); }
  void null() { plain("null"); }

  template <class T>
  void member(std::string_view name, const T& of) {
    key(name);
    value(of);
  }

  /// The document, with a line end.
  std::string take();

 private:
  void begin(char bracket);
  void end(char bracket);
  void plain(std::string_view text);
  void whole(std::int64_t number);
  void place();  // what stands before a value: a comma, a new line
  void new_line();

  std::string out_;
  int depth_ = 0;
  bool empty_ = true;   // nothing stands yet in what is open
  bool named_ = false;  // a key stands before the value
  bool in_line_ = false;
};

}  // namespace headway

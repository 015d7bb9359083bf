#include "report/json/writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headway {
namespace {

// Printable ASCII that JSON does not escape.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
}

}  // namespace

void JsonWriter::new_line() {
  out_ += '\n';
  out_.append(static_cast<std::size_t>(2 * depth_), ' ');
}

void JsonWriter::place() {
  if (!named_ && depth_ > 0) {
    if (!empty_) out_ += ',';
    if (!in_line_) new_line();
  }
  named_ = empty_ = false;
}

void JsonWriter::begin(char bracket) {
  place();
  out_ += bracket;
  ++depth_;
  empty_ = true;
}

void JsonWriter::end(char bracket) {
  --depth_;
  if (!empty_) new_line();
  out_ += bracket;
  empty_ = false;
}

void JsonWriter::key(std::string_view name) {
  place();
  out_ += '"';
  out_ += name;
  out_ += "\": ";
  named_ = true;
}

void JsonWriter::plain(std::string_view text) {
  place();
  out_ += text;
}

void JsonWriter::whole(std::int64_t number) {
  std::array<char, 24> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  plain({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  std::array<char, 64> digits{};
  char* const end =
      nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), number);
  plain({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void JsonWriter::value(std::string_view text) {
  place();
  if (is_plain(text)) {
    out_ += '"';
    out_ += text;
    out_ += '"';
  } else {
    out_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

std::string JsonWriter::take() {
  out_ += '\n';
  return std::move(out_);
}

}  // namespace headway

#include "base/document/toml_ascii.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace headway {
namespace {

constexpr char kMark = '`';
constexpr std::string_view kDigits = "0123456789abcdef";

bool is_forbidden(std::string_view rest) {
  const char c = rest[0];
  if (c == '\t' || c == '\n' || rest.starts_with("\r\n")) return false;
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

Result<std::string> toml_in_ascii(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string out;
  out.reserve(text.size());
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::size_t length = utf8_length(rest);
    if (length == 0 || is_forbidden(rest)) {
      return Problem{{file, static_cast<int>(line)},
                     length == 0 ? "is not valid TOML: it holds bytes that are no UTF-8"
                                 : "is not valid TOML: it holds a control character",
                     Trouble::malformed};
    }
    if (length > 1 || rest[0] == kMark) {
      out += kMark;
      for (const char c : rest.substr(0, length)) {
        const auto byte = static_cast<unsigned char>(c);
        out += kDigits[byte >> 4];
        out += kDigits[byte & 0xf];
      }
      out += ';';
    } else {
      out += rest[0];
    }
    at += length;
    if (rest[0] == '\n') ++line;
    // The mark may come out of an escape of TOML's own, too. One of no bytes after it tells that
    // nothing begins there; elsewhere than in "..." it says nothing and is taken out as well.
    if (rest[0] == '0' && (out.ends_with("\\u0060") || out.ends_with("\\U00000060"))) {
      out += kMark;
      out += ';';
    }
  }
  return out;
}

std::string from_toml_in_ascii(std::string_view ascii, std::string_view single) {
  std::string out;
  while (!ascii.empty()) {
    const std::size_t mark = std::min(ascii.find(kMark), ascii.size());
    out += ascii.substr(0, mark);
    ascii.remove_prefix(mark);
    if (ascii.empty()) break;
    ascii.remove_prefix(1);
    const std::size_t end = ascii.find_first_not_of(kDigits);
    if (end == std::string_view::npos) break;
    const bool whole = ascii[end] == ';' && end % 2 == 0;
    if (end == 0 && !whole) out += single;
    for (std::size_t i = 0; whole && i < end; i += 2) {
      out += static_cast<char>(kDigits.find(ascii[i]) << 4 | kDigits.find(ascii[i + 1]));
    }
    ascii.remove_prefix(end + (whole ? 1 : 0));
  }
  return out;
}

}  // namespace headway

// Values as TOML writes them.
#pragma once

#include <string>
#include <string_view>

namespace headway {

/// A basic string, in quotes.
std::string toml_text(std::string_view text);

/// A list of them, of any range of texts.
template <class Texts>
std::string toml_list(const Texts& texts) {
  std::string out = "[";
  for (const auto& text : texts) out += (out.size() > 1 ? ", " : "") + toml_text(text);
  return out + "]";
}

}  // namespace headway

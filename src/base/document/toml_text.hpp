// Values as TOML writes them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// `text` with the keys of the table [name] as `values` have them, as TOML writes those; a key
/// whose value is empty is taken out, one that is not there comes at the end of the table. All else
/// stays as it stands; a text without the table is as it was.
std::string renewed_table(const std::string& text, const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace headway

// YAML in which a key may stand twice, as programs that read it do not mind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"

namespace headway {

/// As parse_yaml(text, file), but of a key that stands twice the last counts, and `twice` says so.
Result<Document> parse_yaml(std::string_view text, std::string file,
                            std::vector<std::string>& twice);

}  // namespace headway

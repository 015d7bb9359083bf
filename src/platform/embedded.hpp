// The files of data/ and the page, carried inside the binary, so that it runs from anywhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// The text of data/`path` ("clusters/dgx-h100.toml"), or nothing. What is carried packed
/// ("measurements/training.csv") is unpacked by the first who asks, and kept. Files of the page
/// stand under "web/", packed ("web/index.html.gz"), where it was built before the binary.
std::optional<std::string_view> embedded_file(std::string_view path);

/// The paths of all embedded files under data/`folder` ("clusters"), sorted.
std::vector<std::string> embedded_files(std::string_view folder);

/// The digest of all that answers hang on: of all files but the page's.
std::string embedded_digest();

}  // namespace headway

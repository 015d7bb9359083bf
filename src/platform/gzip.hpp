// What the binary carries packed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway {

/// The text that `packed` holds as one member of gzip; nothing where it is damaged.
std::optional<std::string> unpacked_gzip(std::string_view packed);

}  // namespace headway

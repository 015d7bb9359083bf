// What to say of a file that is no trace.
#pragma once

#include <string>
#include <string_view>

namespace headway {

/// Whether a file begins as a tar archive does.
bool is_tar(std::string_view beginning);

/// How a file of no known form begins, for its user to recognise it: "JSON with 'a' and 'b'", "a
/// zip archive", "a text that begins with 'Dear reader'".
std::string looks_like(std::string_view beginning, std::string_view name);

}  // namespace headway

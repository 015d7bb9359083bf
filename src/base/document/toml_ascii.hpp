// TOML written in ASCII alone, for a reader that does not withstand other characters.
//
// toml++ 3.3 asks of a character outside ASCII whether it is white space, and runs into undefined
// behaviour for most; it asks wherever white space may stand, and in text that is no TOML that is
// nearly everywhere. So it is shown none. Each such character stands in the text as ` and its bytes
// in hexadecimal digits and ; (µ as `c2b5;), and ` itself as `60;. TOML allows no ` outside quotes
// and comments, and within them any text, so that the one is valid where the other is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway {

/// The text in ASCII, line by line as before, without a byte order mark. A problem at file:line
/// where it holds bytes that are no UTF-8, or a control character, which TOML forbids everywhere,
/// but for tabs and line ends (LF, CR LF).
Result<std::string> toml_in_ascii(std::string_view text, const std::string& file);

/// What a key, a text or a message made of text in ASCII stands for. In a message toml++ may quote
/// a ` alone, which stands for `single`, or with some of its digits, which stands for nothing.
std::string from_toml_in_ascii(std::string_view ascii, std::string_view single = "`");

}  // namespace headway

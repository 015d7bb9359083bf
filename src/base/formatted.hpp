// Numbers as text: in the words of printf, or to the last digit.
#pragma once

#include <string>

namespace headway {

/// What printf would write; the compiler checks the arguments against the format.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// As few digits as are read back as the same number.
std::string shortest_text(double number);

}  // namespace headway

// Numbers as text, in the words of printf.
#pragma once

#include <string>

namespace headway {

/// What printf would write; the compiler checks the arguments against the format.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

}  // namespace headway

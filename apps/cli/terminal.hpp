// The terminal that the program writes to, and the standard input as a file.
#pragma once

#include <cstddef>

namespace headway {

/// The columns of the terminal of the standard output; 0 where it is none.
std::size_t terminal_columns();

/// Keeps what comes on the standard input, so that it can be opened by its path as often as needed,
/// as a file is. False where it cannot be kept.
bool keep_standard_input();

}  // namespace headway

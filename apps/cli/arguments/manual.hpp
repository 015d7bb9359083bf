// The manual page of the program, made from the table of commands.
#pragma once

#include <span>
#include <string>

#include "api/command.hpp"

namespace headway {

/// In the language of man(7): every command with its options, examples, exit codes.
std::string manual(std::span<const CommandRow> rows, const std::string& version);

}  // namespace headway

// Commands in parts, on machines that do not talk to each other, and the parts brought together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/command.hpp"
#include "arguments/arguments.hpp"

/// The answer of a command of which one part is asked: the file of that part. `given`: the
/// arguments of the program, without its name.
headway::CommandOutput run_shard(const headway::Arguments& asked,
                                 std::span<const char* const> given, const std::string& version);

/// `merge`: what the command of the parts says, of all of them.
headway::Command merge_command(std::function<std::vector<headway::CommandRow>()> rows,
                               const std::string& version);

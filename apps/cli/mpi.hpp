// A command by all ranks that MPI started: each takes one part of the work after another from a
// counter that rank 0 keeps, and rank 0 says what all parts come to.
#pragma once

#include <span>
#include <string>

#include "api/command.hpp"
#include "arguments/arguments.hpp"

/// The answer on rank 0, to the byte that of the command alone; on others nothing. `given`: the
/// arguments of the program, without its name.
headway::CommandOutput run_mpi(const headway::Arguments& asked, std::span<const char* const> given,
                               const std::string& version);

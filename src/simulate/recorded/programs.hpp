// The two kinds of program that a recording may be. Internal to src/simulate/recorded.
#pragma once

#include <string>

#include "simulate/recorded/program.hpp"

namespace headway {

Result<RecordedProgram> timed_program(const Recording& recording);
Result<RecordedProgram> graph_program(const Recording& recording);

/// "all_reduce of group 3": a call as problems name it.
std::string shown_call(const Recording& recording, std::size_t call);

}  // namespace headway

// Where in the folder of a recording the file of a rank lies.
#pragma once

#include "settings.hpp"
#include "writer.hpp"

namespace headway::recorder {

/// Begins the file of a rank, `ending` behind its number ("" of MPI, ".nccl"), in the folder itself
/// for the first program of a command, in run2, run3, ... for later ones. False where it cannot,
/// with `why`.
bool begin_in_run(const Settings& settings, int run, const char* ending, const Identity& identity,
                  const char*& why);

/// The same in the first one from `run` on that has no such file of this rank's.
bool begin_in_first_free(const Settings& settings, int& run, const char* ending,
                         const Identity& identity, const char*& why);

/// Said on the standard error: the rank has no file; none of the steps asked for was there.
void say_not_recorded(const Settings& settings, int rank, const char* why);
void say_if_no_step_was_marked(const Settings& settings, int rank);

/// The name of this machine.
const char* host_name();

}  // namespace headway::recorder

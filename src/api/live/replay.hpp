// replay: the step of a run, or a recording, run on this machine. What starts programs is the
// app's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/command.hpp"

namespace headway {

/// A program of replay to be started on every rank, under the recorder.
struct ReplayStart {
  std::string backend;   // "mpi", "gloo", "nccl"
  std::string launcher;  // words before the program; empty: mpirun -np RANKS
  std::string list;      // file
  std::string times;     // file, for what the program says of itself
  std::string folder;    // of the recording
  std::int64_t ranks = 1;
  bool here = true;  // it is started now, on this machine as far as is known
  bool single = false, multiplies = false;
  std::int64_t repeat = 20, warm = 3;
};

/// What starts the ranks.
struct ReplayProgram {
  std::string shown;                 // as a user would start it: one line
  std::function<Result<int>()> run;  // to its end: the exit code, or why it was not started
};

/// What the app does for the command.
struct ReplayStarter {
  std::int64_t cores = 1;  // of this machine
  /// What would start them, or why nothing here does.
  std::function<Result<ReplayProgram>(const ReplayStart&)> prepare;
};

Command replay_command(const ReplayStarter& starter);

}  // namespace headway

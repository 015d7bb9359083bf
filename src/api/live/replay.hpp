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
  bool single = false, multiplies = false;
  std::int64_t repeat = 20, warm = 3;
};

/// What the app does for the command.
struct ReplayStarter {
  std::int64_t cores = 1;  // of this machine
  /// Runs it to its end: the exit code, or why it was not started.
  std::function<Result<int>(const ReplayStart&)> start;
  /// As a user would start it: one line.
  std::function<Result<std::string>(const ReplayStart&)> shown;
};

Command replay_command(const ReplayStarter& starter);

}  // namespace headway

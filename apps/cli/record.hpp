// Starts a program with the recorder of its communication before it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace headway {

struct RecordOptions {
  std::string output = "recording";  // folder; made, or empty
  std::string steps;                 // "10..20": only these
  std::string min_bytes;             // "4 KiB": smaller calls are left out
  std::string operations;            // "all_reduce,send"
  std::string rotate;                // "1 GB": of one file
  std::string mpi;                   // "3", "4", "4c": what its MPI has; empty: by its launcher
  std::string nccl;                  // "calls", "plugin", "off"; empty: calls
  std::string device_times;          // "on", "off"; empty: on with calls, off with plugin
  std::string step_range;            // name of the NVTX range or mark that begins a step
  std::string beside;                // a folder in it that may be there before
  bool quiet = false;
  std::vector<std::string> program;  // and its arguments
};

/// Runs the program to its end and says on stderr where its recording lies. The exit code of the
/// program, 128 and the signal where one ended it; problems where it is not started.
Result<int> record(const RecordOptions& options);

/// The exit code of a program that is run to its end, as record() has it, with nothing recorded.
Result<int> run_program(const std::vector<std::string>& program);

/// What a launcher of MPI says of its version.
std::string launcher_version(const std::string& launcher);

}  // namespace headway

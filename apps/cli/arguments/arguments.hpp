// The command line as loops over the table of commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "api/command.hpp"

namespace headway {

/// How the ranks of MPI share the work (../mpi.hpp), where it was asked for.
struct MpiFlags {
  bool asked = false;
  std::int64_t parts = 64;  // that the work is divided into
  std::string done = {};    // folder of the parts that are done; empty: none is kept
  std::string times = {};   // file for how long each part took; empty: none
};

/// What the arguments ask for: a command whose request is filled; without one the exit code, where
/// help was asked for and printed, or what is wrong with them.
struct Arguments {
  std::optional<Command> command = std::nullopt;
  Circumstances circumstances = {};
  std::string things = {};  // what progress counts
  MpiFlags mpi = {};
  int exit_code = 0;
};

/// Reads the arguments of the program; prints help and version to stdout, what is wrong to stderr.
Arguments read_arguments(std::span<const CommandRow> rows, const std::string& version, int argc,
                         const char* const* argv);

/// A part of the work at the beginning of these arguments, as --shard 2/7; and of how many words:
/// 0 where none is.
struct PartFlag {
  std::string value = {};
  std::size_t words = 0;
};
PartFlag part_flag(std::span<const char* const> words);
/// The same of a flag of MPI, or of its value: how many words.
std::size_t mpi_words(std::span<const char* const> words);

/// The help of a command, "scale", "weak"; of the program where none is named.
Result<std::string> help_text(std::span<const CommandRow> rows, const std::string& version,
                              std::span<const std::string> command);

}  // namespace headway

// Which rank this process is, and how ranks that nothing but a folder joins meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libraries.hpp"

namespace headway::replay::nccl {

struct Place {
  int rank = 0, ranks = 1;
  int local = 0;  // on its machine: the number of its GPU
};

/// As torchrun, mpirun of OpenMPI or MPICH, or srun said it in the environment; nothing where none
/// did.
std::optional<Place> place_of_environment();

/// This program once a rank on this machine, to the end of all: the first exit code that is not 0,
/// upon which the others are ended, for they would wait for it.
int start_ranks(int ranks, char** words);

/// The names by which communicators are made, from the rank that makes one to the others: files in
/// a folder that all of them see, written whole.
class Meeting {
 public:
  explicit Meeting(std::string folder);
  void give(std::size_t number, const UniqueId& id);
  UniqueId take(std::size_t number);
  /// What this rank gave, when all have taken it.
  void clean();

 private:
  std::string folder_;
  std::vector<std::string> given_;
};

}  // namespace headway::replay::nccl

// Which rank of the whole program a process is, by what its launcher says.
#pragma once

namespace headway::recorder {

struct Ranks {
  int rank = -1;   // -1: nobody says it
  int world = -1;  // how many there are
};

/// Of torchrun and what is like it (RANK, WORLD_SIZE), OpenMPI, Slurm, MPICH.
Ranks ranks_of_launcher();

}  // namespace headway::recorder

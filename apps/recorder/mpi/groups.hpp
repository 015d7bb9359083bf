// Communicators as groups of ranks with a number that all their members know.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi.hpp"

namespace headway::recorder {

struct Group {
  std::uint32_t number = 0;  // 0: none
  int rank = 0;              // of this process
  int size = 0;              // of the group
  int others = 0;            // ranks that a part comes from or goes to: of the other side, if any
  int out_neighbours = 0;    // of a communicator with a topology
  std::atomic<std::uint32_t> collectives{0};
};

/// The world's ranks, before any other; of a program that has no MPI_COMM_WORLD they are those of
/// the group.
void begin_groups();
void begin_groups(MPI_Group world);
void end_groups();

/// Of what no communicator is known.
Group* no_group();

/// Of a communicator; made when it is first asked for, if nobody made it known before.
Group* group_of(MPI_Comm comm);

/// A duplicate that is there when its request is done: its number is of when it was asked for,
/// which all ranks do in one order.
void promise_duplicate(MPI_Comm comm, MPI_Comm* made, MPI_Request request);
/// Of a request that is done, whatever it is of.
void keep_promise(MPI_Request request);

/// A window's ranks are those of the communicator that it was opened on.
void open_window(MPI_Win window, MPI_Comm comm);
Group* group_of_window(MPI_Win window);

}  // namespace headway::recorder

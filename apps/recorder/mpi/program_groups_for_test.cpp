// Communicators that come later or from other programs, and windows of some ranks.
#include <cstdio>
#include <initializer_list>

#include "program_for_test.hpp"

namespace program_for_test {

// Communicators that are there later, or whose other side is another program: two of each rank's
// duplicates, asked for before any is waited for, and what two programs that find each other make.
int duplicates() {
  MPI_Comm made[2], column, of_column;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
  MPI_Request requests[3];
  MPI_Comm_idup(MPI_COMM_WORLD, &made[0], &requests[0]);
  MPI_Comm_idup(MPI_COMM_WORLD, &made[1], &requests[1]);
  MPI_Comm_idup(column, &of_column, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  int one = 1, all = 0;
  // Each rank uses them in another order at first.
  if (rank == 0) {
    MPI_Send(&one, 1, MPI_INT, 1, 0, made[1]);
    MPI_Send(&one, 1, MPI_INT, 1, 0, made[0]);
  } else if (rank == 1) {
    MPI_Recv(&all, 1, MPI_INT, 0, 0, made[0], MPI_STATUS_IGNORE);
    MPI_Recv(&all, 1, MPI_INT, 0, 0, made[1], MPI_STATUS_IGNORE);
  }
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, made[1]);
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, of_column);
  for (MPI_Comm* comm : {&made[0], &made[1], &of_column, &column}) MPI_Comm_free(comm);
  if (rank == 0) std::printf("all %d\n", all);
  return 0;
}

// Two more of the same program, which are told a number.
int spawning() {
  MPI_Comm more;
  char mode[] = "spawned";
  char* words[] = {mode, nullptr};
  MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &more, MPI_ERRCODES_IGNORE);
  double told[5] = {42};
  MPI_Bcast(told, 5, MPI_DOUBLE, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, more);
  MPI_Comm_disconnect(&more);
  if (rank == 0) std::printf("told\n");
  return 0;
}

int spawned() {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  double told[5] = {};
  MPI_Bcast(told, 5, MPI_DOUBLE, 0, parent);
  MPI_Comm_disconnect(&parent);
  return told[0] == 42 ? 0 : 1;
}

// A window that its target opens and looks at until the others are done with it.
int exposed() {
  int window[4] = {}, own = rank + 1;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Group all, others, target;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int first = 0;
  MPI_Group_incl(all, 1, &first, &target);
  MPI_Group_excl(all, 1, &first, &others);
  if (rank == 0) {
    MPI_Win_post(others, 0, win);
    int done = 0;
    while (!done) MPI_Win_test(win, &done);
  } else {
    MPI_Win_start(target, 0, win);
    MPI_Put(&own, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_complete(win);
  }
  MPI_Group_free(&target);
  MPI_Group_free(&others);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  if (rank == 0) std::printf("window %d %d %d\n", window[1], window[2], window[3]);
  return 0;
}

}  // namespace program_for_test

// Programs that end in their own ways, and calls of each rank alone.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "program_for_test.hpp"

namespace program_for_test {

static void some_reductions(int count) {
  double in = 1, out = 0;
  for (int i = 0; i < count; ++i) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// 50 calls, time for the writer, and the end comes from outside.
int killed() {
  some_reductions(50);
  ::usleep(300'000);
  if (rank == 1) ::raise(SIGKILL);
  for (;;) some_reductions(1);
}

// The same, and one dies of its own.
int crashed() {
  some_reductions(50);
  ::usleep(300'000);
  if (rank == 1) std::abort();
  for (;;) some_reductions(1);
}

int aborted() {
  some_reductions(50);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 9);
  ::sleep(60);
  return 0;
}

// A child that ends by itself, and one that runs a program.
int forked() {
  some_reductions(10);
  const pid_t child = ::fork();
  if (child == 0) std::exit(5);
  int status = 0;
  ::waitpid(child, &status, 0);
  const int code = std::system("true");
  some_reductions(10);
  std::printf("child %d %d\n", WEXITSTATUS(status), code);
  return 0;
}

// One leaves without MPI_Finalize, which launchers take for a failure: they end the others.
int left() {
  some_reductions(10);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::exit(6);
  ::sleep(60);
  return 0;
}

// Of each rank with itself: nobody waits.
int many() {
  double in = 1, out = 0;
  // All meet in it, unlike in a barrier unseen: nobody fills a disk before all have begun a file.
  MPI_Comm all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_free(&all);
  for (int i = 0; i < 60'000; ++i) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  if (rank == 0) std::printf("done\n");
  return 0;
}

// The same where no file may grow beyond half a megabyte.
int limited() {
  const rlimit half = {512 * 1024, 512 * 1024};
  ::setrlimit(RLIMIT_FSIZE, &half);
  return many();
}

// As the Fortran of OpenMPI calls the library.
int profiled() {
  double in = 1, out = 0;
  for (int i = 0; i < 5; ++i) PMPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return 0;
}

}  // namespace program_for_test

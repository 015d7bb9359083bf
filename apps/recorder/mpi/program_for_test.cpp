// Programs of which a test knows what they send: program_for_test MODE. Each prints a number that
// the messages decide, and ends with a code of its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "headway/record.h"
#include "mpi.hpp"

namespace {

int rank = 0, world = 1;
const char* program = "";

// A token goes round ten times.
int ring() {
  long token = rank == 0 ? 1 : 0;
  const int next = (rank + 1) % world, last = (rank + world - 1) % world;
  for (int i = 0; i < 10; ++i) {
    if (rank == 0) {
      MPI_Send(&token, 1, MPI_LONG, next, 7, MPI_COMM_WORLD);
      MPI_Recv(&token, 1, MPI_LONG, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&token, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      token += rank;
      MPI_Send(&token, 1, MPI_LONG, next, 7, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) std::printf("token %ld\n", token);
  return 3;
}

// Rows of a grid: 20 sweeps with persistent halo exchange of 100 doubles either way, and a
// residual.
int stencil() {
  constexpr int kColumns = 100, kRows = 8;
  std::vector<double> grid((kRows + 2) * kColumns, rank), next = grid;
  const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL,
            down = rank + 1 < world ? rank + 1 : MPI_PROC_NULL;
  double *top = grid.data(), *bottom = grid.data() + (kRows + 1) * kColumns;
  MPI_Request requests[4];
  MPI_Recv_init(top, kColumns, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(bottom, kColumns, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Send_init(top + kColumns, kColumns, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Send_init(bottom - kColumns, kColumns, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[3]);
  double residual = 0;
  for (int sweep = 0; sweep < 20; ++sweep) {
    headway_step();
    MPI_Startall(4, requests);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    double own = 0;
    for (int i = kColumns; i < (kRows + 1) * kColumns; ++i) {
      next[i] = 0.5 * grid[i] + 0.25 * (grid[i - kColumns] + grid[i + kColumns]);
      own += (next[i] - grid[i]) * (next[i] - grid[i]);
    }
    std::memcpy(top + kColumns, next.data() + kColumns, kRows * kColumns * sizeof(double));
    MPI_Allreduce(&own, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  if (rank == 0) std::printf("residual %.12g\n", residual);
  return 0;
}

// Every collective three times, blocking and not; parts of 10 floats of each rank.
int collectives() {
  const auto n = static_cast<std::size_t>(world);
  constexpr int kPart = 10;
  std::vector<float> one(kPart, 1), all(kPart * n * n, 1), more(kPart * n * n, 0);
  std::vector<int> counts(n), at(n);
  for (int i = 0; i < world; ++i) counts[i] = kPart * (i + 1);
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), 0);
  std::vector<int> to_me(n, counts[rank]), spread(n), bytes(n), byte_at(n);
  for (int i = 0; i < world; ++i) spread[i] = i * counts[rank];
  std::vector<MPI_Datatype> types(n, MPI_FLOAT);
  const MPI_Comm comm = MPI_COMM_WORLD;
  float *a = all.data(), *b = more.data();
  for (int i = 0; i < 3; ++i) {
    MPI_Barrier(comm);
    MPI_Bcast(b, kPart, MPI_FLOAT, 1, comm);
    MPI_Gather(a, kPart, MPI_FLOAT, b, kPart, MPI_FLOAT, 0, comm);
    MPI_Gatherv(a, counts[rank], MPI_FLOAT, b, counts.data(), at.data(), MPI_FLOAT, 0, comm);
    MPI_Scatter(a, kPart, MPI_FLOAT, b, kPart, MPI_FLOAT, 0, comm);
    MPI_Scatterv(a, counts.data(), at.data(), MPI_FLOAT, b, counts[rank], MPI_FLOAT, 0, comm);
    MPI_Allgather(a, kPart, MPI_FLOAT, b, kPart, MPI_FLOAT, comm);
    MPI_Allgatherv(a, counts[rank], MPI_FLOAT, b, counts.data(), at.data(), MPI_FLOAT, comm);
    MPI_Alltoall(a, kPart, MPI_FLOAT, b, kPart, MPI_FLOAT, comm);
    MPI_Alltoallv(a, counts.data(), at.data(), MPI_FLOAT, b, to_me.data(), spread.data(), MPI_FLOAT,
                  comm);
    for (int j = 0; j < world; ++j) byte_at[j] = 4 * at[j], bytes[j] = 4 * spread[j];
    MPI_Alltoallw(a, counts.data(), byte_at.data(), types.data(), b, to_me.data(), bytes.data(),
                  types.data(), comm);
    MPI_Reduce(a, b, kPart, MPI_FLOAT, MPI_SUM, 0, comm);
    MPI_Allreduce(MPI_IN_PLACE, b, kPart, MPI_FLOAT, MPI_MAX, comm);
    MPI_Reduce_scatter(a, b, counts.data(), MPI_FLOAT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(a, b, kPart, MPI_FLOAT, MPI_SUM, comm);
    MPI_Scan(a, b, kPart, MPI_FLOAT, MPI_SUM, comm);
    MPI_Exscan(a, b, kPart, MPI_FLOAT, MPI_SUM, comm);
    MPI_Request requests[3];
    MPI_Ibarrier(comm, &requests[0]);
    MPI_Iallreduce(a, b, kPart, MPI_FLOAT, MPI_SUM, comm, &requests[1]);
    MPI_Ibcast(one.data(), kPart, MPI_FLOAT, 0, comm, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  }
  if (rank == 0) std::printf("sum %g\n", static_cast<double>(b[0]));
  return 0;
}

// Data parallel in two columns of two rows: gradients of 1,000 and 24 floats over each column
// of ranks with non-blocking all-reduces, tensors of 50 doubles gathered over each row.
int trainer() {
  MPI_Comm row, column, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
  MPI_Comm_dup(column, &copy);
  std::vector<float> large(1000, static_cast<float>(rank)), small(24, 1);
  double tensor[50] = {}, tensors[100] = {};
  for (int step = 0; step < 6; ++step) {
    headway_step();
    MPI_Allgather(tensor, 50, MPI_DOUBLE, tensors, 50, MPI_DOUBLE, row);
    MPI_Request requests[2];
    MPI_Iallreduce(MPI_IN_PLACE, large.data(), 1000, MPI_FLOAT, MPI_SUM, column, &requests[0]);
    MPI_Iallreduce(MPI_IN_PLACE, small.data(), 24, MPI_FLOAT, MPI_SUM, copy, &requests[1]);
    int done = 0;
    while (!done) MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (float& value : large) value *= 0.5f;
  }
  std::printf("rank %d weight %g\n", rank, static_cast<double>(large[0]));
  MPI_Comm_free(&copy);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  return 0;
}

// Messages of every kind between pairs, with probes, a cancelled receive and a request let go of.
int messages() {
  const int other = rank ^ 1;
  char out[64] = "x", in[64];
  for (int i = 0; i < 4; ++i) {
    MPI_Request requests[3];
    MPI_Irecv(in, 64, MPI_CHAR, other, i, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 16, MPI_CHAR, other, i, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, 8, MPI_CHAR, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[2]);
    int index = 0, done = 0, indices[3];
    MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    while (done != MPI_UNDEFINED) MPI_Waitsome(3, requests, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 32, MPI_CHAR, other, 9, in, 32, MPI_CHAR, other, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  MPI_Request sent;
  MPI_Isend(out, 5, MPI_CHAR, other, 20, MPI_COMM_WORLD, &sent);
  MPI_Status status;
  MPI_Probe(other, 20, MPI_COMM_WORLD, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_CHAR, &count);
  MPI_Message message;
  MPI_Mprobe(other, 20, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(in, 64, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  MPI_Request_free(&sent);
  MPI_Irecv(in, 64, MPI_CHAR, other, 21, MPI_COMM_WORLD, &sent);
  MPI_Cancel(&sent);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("count %d\n", count);
  return 0;
}

// Puts of 40 bytes, gets of 80, one element added; among neighbours on a ring of ranks.
int others() {
  std::vector<int> window(100, rank), own(100, 1);
  MPI_Win win;
  MPI_Win_create(window.data(), 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const int next = (rank + 1) % world;
  int one = 1, before = 0;
  MPI_Win_fence(0, win);
  MPI_Put(own.data(), 10, MPI_INT, next, 50, 10, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Get(own.data(), 20, MPI_INT, next, 0, 20, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 99, MPI_SUM, win);
  MPI_Win_unlock(0, win);
  MPI_Win_free(&win);
  MPI_Comm line;
  const int length = world, round = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &length, &round, 0, &line);
  std::vector<int> from(20, rank), to(20);
  for (int i = 0; i < 5; ++i) {
    MPI_Neighbor_alltoall(from.data(), 10, MPI_INT, to.data(), 10, MPI_INT, line);
  }
  MPI_Comm_free(&line);
  if (rank == 0) std::printf("got %d\n", own[0]);
  return 0;
}

#if MPI_VERSION >= 4
// What came with MPI 4: wide counts, persistent collectives, partitioned messages.
int version4() {
  const int other = rank ^ 1;
  std::vector<double> out(40, 1), in(40), all(40 * static_cast<std::size_t>(world));
  const std::vector<MPI_Count> counts(static_cast<std::size_t>(world), 5);
  std::vector<MPI_Aint> at(static_cast<std::size_t>(world));
  for (int i = 0; i < world; ++i) at[i] = 5 * i;
  MPI_Request requests[3];
  MPI_Allreduce_init(out.data(), in.data(), 40, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &requests[0]);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  if (rank % 2 == 0) {
    MPI_Send_c(out.data(), 30, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv_c(in.data(), 40, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Bcast_c(out.data(), 20, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allgatherv_c(out.data(), 5, MPI_DOUBLE, all.data(), counts.data(), at.data(), MPI_DOUBLE,
                   MPI_COMM_WORLD);
  MPI_Isendrecv(out.data(), 10, MPI_DOUBLE, other, 2, in.data(), 10, MPI_DOUBLE, other, 2,
                MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Psend_init(out.data(), 4, 10, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(in.data(), 4, 10, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, requests);
    for (int part = 0; part < 4; ++part) MPI_Pready(part, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  for (int i = 0; i < 2; ++i) {  // found before it is received
    if (rank % 2 == 0) {
      MPI_Send(out.data(), 7, MPI_DOUBLE, other, 4, MPI_COMM_WORLD);
      continue;
    }
    MPI_Message message;
    MPI_Mprobe(other, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (i == 0) {
      MPI_Mrecv_c(in.data(), 40, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    } else {
      MPI_Imrecv_c(in.data(), 40, MPI_DOUBLE, &message, &requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
  }
  MPI_Win window;
  MPI_Win_create_c(in.data(), 320, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out.data(), 2, MPI_DOUBLE, other, 0, 2, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  if (rank == 0) std::printf("in %g\n", in[0]);
  return 0;
}
#else
int version4() {
  return 65;
}
#endif

void some_reductions(int count) {
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

// A file of 100 doubles of each rank, written and read again in several ways.
int files() {
  constexpr int kPart = 100;
  std::vector<double> own(kPart, rank), back(kPart);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  const MPI_Offset at = static_cast<MPI_Offset>(sizeof(double)) * kPart * rank;
  MPI_File_write_at_all(file, at, own.data(), kPart, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_Request request;
  MPI_File_iread_at(file, at, back.data(), kPart, MPI_DOUBLE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_seek(file, at, MPI_SEEK_SET);
  MPI_Status status;
  MPI_File_read(file, back.data(), kPart / 2, MPI_DOUBLE, &status);
  int got = 0;
  MPI_Get_count(&status, MPI_DOUBLE, &got);
  double sum = std::accumulate(back.begin(), back.end(), 0.0) + got, all = 0;
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_File_close(&file);
  if (rank == 0) std::printf("sum %g\n", all);
  return 0;
}

// A program that never calls MPI_Init: its communicators come of sessions.
int of_sessions() {
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  MPI_Session session;
  MPI_Group all, pair;
  MPI_Comm comm, small;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &world);
  const int members[] = {rank / 2 * 2, rank / 2 * 2 + 1};
  MPI_Group_incl(all, 2, members, &pair);
  MPI_Comm_create_from_group(pair, rank < 2 ? "low" : "high", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                             &small);
  double in[10] = {1}, out[10];
  for (int step = 0; step < 3; ++step) {
    headway_step();
    MPI_Allreduce(in, out, 10, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Bcast(in, 5, MPI_DOUBLE, 0, small);
  }
  if (rank == 0) std::printf("sum %g\n", out[0]);
  MPI_Comm_free(&small);
  MPI_Comm_free(&comm);
  MPI_Group_free(&pair);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
  return 5;
#else
  return 77;  // this MPI has none
#endif
}

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

struct Mode {
  const char* name;
  int (*run)();
};
const Mode kModes[] = {{"ring", ring},
                       {"stencil", stencil},
                       {"collectives", collectives},
                       {"trainer", trainer},
                       {"messages", messages},
                       {"others", others},
                       {"killed", killed},
                       {"crashed", crashed},
                       {"aborted", aborted},
                       {"forked", forked},
                       {"left", left},
                       {"many", many},
                       {"limited", limited},
                       {"profiled", profiled},
                       {"version4", version4},
                       {"files", files},
                       {"duplicates", duplicates},
                       {"spawning", spawning},
                       {"spawned", spawned},
                       {"exposed", exposed}};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "sessions") return of_sessions();
  program = argv[0];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  for (const Mode& mode : kModes) {
    if (argc < 2 || std::string(argv[1]) != mode.name) continue;
    const int code = mode.run();
    MPI_Finalize();
    return code;
  }
  return 64;
}

// Programs of which a test knows what they send: program_for_test MODE. Each prints a number that
// the messages decide, and ends with a code of its own.
#include "program_for_test.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using namespace program_for_test;

namespace {

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

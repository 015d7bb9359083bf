// What a call costs: run bare, and under `headway record`; the difference is the recorder. On one
// rank nobody waits for others, so that little else is in it.
//
//   mpirun -np 1 recorder_bench_openmpi; headway record -o DIR -- mpirun -np 1
//   recorder_bench_openmpi
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "mpi.hpp"

namespace {

double now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::nanoseconds(now).count());
}

// The median of 31 rounds of 1,000 calls: fewer than the buffer takes, with pauses for the writer.
template <class Call>
void measure(const char* name, int calls, Call call) {
  constexpr int kRounds = 31, kEach = 1000;
  std::vector<double> each;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now_ns();
    for (int i = 0; i < kEach; ++i) call();
    each.push_back((now_ns() - start) / kEach / calls);
  }
  std::nth_element(each.begin(), each.begin() + kRounds / 2, each.end());
  std::printf("%-44s %7.0f ns a call\n", name, each[kRounds / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double in = 1, out = 0;
  const MPI_Comm self = MPI_COMM_SELF;
  measure("MPI_Allreduce", 1, [&] { MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, self); });
  measure("MPI_Bcast", 1, [&] { MPI_Bcast(&in, 1, MPI_DOUBLE, 0, self); });
  measure("MPI_Sendrecv", 1, [&] {
    MPI_Sendrecv(&in, 1, MPI_DOUBLE, 0, 1, &out, 1, MPI_DOUBLE, 0, 1, self, MPI_STATUS_IGNORE);
  });
  measure("MPI_Irecv, MPI_Send, MPI_Wait", 3, [&] {
    MPI_Request request;
    MPI_Irecv(&out, 1, MPI_DOUBLE, 0, 1, self, &request);
    MPI_Send(&in, 1, MPI_DOUBLE, 0, 1, self);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  measure("MPI_Isend and MPI_Irecv of four, MPI_Waitall", 9, [&] {
    MPI_Request requests[8];
    for (int i = 0; i < 4; ++i) MPI_Irecv(&out, 1, MPI_DOUBLE, 0, i, self, &requests[i]);
    for (int i = 0; i < 4; ++i) MPI_Isend(&in, 1, MPI_DOUBLE, 0, i, self, &requests[4 + i]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  });
  MPI_Finalize();
  return 0;
}

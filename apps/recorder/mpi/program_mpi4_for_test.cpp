// What came with MPI 4.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "program_for_test.hpp"

namespace program_for_test {

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

}  // namespace program_for_test

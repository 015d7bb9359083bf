// What a call costs under `headway record` beside the same call of the library itself, in one run:
// rounds of both in turn, so that what else the machine does is in both. On one rank nobody waits
// for others, so that little else is in it. Without `headway record` the two are the same.
//
//   headway record -o DIR -- mpirun -np 1 recorder_bench_openmpi
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

#include "mpi.hpp"

namespace {

#define FOR_EACH_CALL(DO) \
  DO(Allreduce) DO(Bcast) DO(Sendrecv) DO(Irecv) DO(Isend) DO(Send) DO(Wait) DO(Waitall)

// The calls as the program has them, or as the library has them.
struct Calls {
#define MEMBER(name) decltype(&MPI_##name) name;
  FOR_EACH_CALL(MEMBER)
#undef MEMBER
};

// The library of MPI; the recorder's is called otherwise.
int is_mpi(dl_phdr_info* info, size_t, void* found) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  if (slash == nullptr || std::strncmp(slash, "/libmpi", 7) != 0) return 0;
  void* library = ::dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  Dl_info where{};
  void* init = library == nullptr ? nullptr : ::dlsym(library, "PMPI_Init");
  if (init == nullptr || ::dladdr(init, &where) == 0) return 0;
  if (std::strcmp(where.dli_fname, info->dlpi_name) != 0) return 0;
  *static_cast<void**>(found) = library;
  return 1;
}

Calls calls_of(void* library, const char* prefix) {
  Calls calls{};
  const auto take = [&](auto& call, const char* name) {
    char whole[64];
    std::snprintf(whole, sizeof whole, "%sMPI_%s", prefix, name);
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(::dlsym(library, whole));
  };
#define TAKE(name) take(calls.name, #name);
  FOR_EACH_CALL(TAKE)
#undef TAKE
  return calls;
}

constexpr int kRounds = 301, kEach = 100;

// Of one round, each.
template <class Call>
double ns_of_round(const Calls& calls, int many, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kEach; ++i) call(calls);
  const auto took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(std::chrono::nanoseconds(took).count()) / kEach / many;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Call>
void measure(const char* name, const Calls (&both)[2], int many, const Call& call) {
  std::vector<double> bare, recorded, more;
  for (int round = 0; round < kRounds; ++round) {
    bare.push_back(ns_of_round(both[0], many, call));
    recorded.push_back(ns_of_round(both[1], many, call));
    more.push_back(recorded.back() - bare.back());
  }
  std::printf("%-48s %6.0f %9.0f %6.0f\n", name, median(bare), median(recorded), median(more));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* library = nullptr;
  ::dl_iterate_phdr(is_mpi, &library);
  if (library == nullptr) return 1;
  const Calls both[] = {calls_of(library, "P"), calls_of(RTLD_DEFAULT, "")};
  double in = 1, out = 0;
  const MPI_Comm self = MPI_COMM_SELF;
  std::printf("%-48s %6s %9s %6s\n", "ns a call (median)", "bare", "recorded", "more");
  measure("MPI_Allreduce", both, 1,
          [&](const Calls& mpi) { mpi.Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, self); });
  measure("MPI_Bcast", both, 1, [&](const Calls& mpi) { mpi.Bcast(&in, 1, MPI_DOUBLE, 0, self); });
  measure("MPI_Sendrecv", both, 1, [&](const Calls& mpi) {
    mpi.Sendrecv(&in, 1, MPI_DOUBLE, 0, 1, &out, 1, MPI_DOUBLE, 0, 1, self, MPI_STATUS_IGNORE);
  });
  measure("MPI_Irecv, MPI_Send, MPI_Wait, each", both, 3, [&](const Calls& mpi) {
    MPI_Request request;
    mpi.Irecv(&out, 1, MPI_DOUBLE, 0, 1, self, &request);
    mpi.Send(&in, 1, MPI_DOUBLE, 0, 1, self);
    mpi.Wait(&request, MPI_STATUS_IGNORE);
  });
  measure("four MPI_Irecv and MPI_Isend, MPI_Waitall, each", both, 9, [&](const Calls& mpi) {
    MPI_Request requests[8];
    for (int i = 0; i < 4; ++i) mpi.Irecv(&out, 1, MPI_DOUBLE, 0, i, self, &requests[i]);
    for (int i = 0; i < 4; ++i) mpi.Isend(&in, 1, MPI_DOUBLE, 0, i, self, &requests[4 + i]);
    mpi.Waitall(8, requests, MPI_STATUSES_IGNORE);
  });
  MPI_Finalize();
  return 0;
}

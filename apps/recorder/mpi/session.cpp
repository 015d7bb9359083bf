#include "session.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../file/folder.hpp"
#include "../file/hash.hpp"
#include "../file/writer.hpp"
#include "functions.hpp"
#include "groups.hpp"
#include "requests.hpp"

namespace headway::recorder {

std::atomic<bool> watching{false};

namespace {

constexpr int kRounds = 8;
constexpr int kTag = 18519;  // below the least upper bound of MPI, 32,767

Settings settings;
int rank = 0, world = 1;
std::atomic<int> sessions{0};       // that are open, of a program whose first of all was one
bool own_clock = false;             // another than that of rank 0
std::uint64_t* machines = nullptr;  // of rank 0: of every rank

// Processes of one boot of one machine share the monotonic clock.
std::uint64_t machine() {
  char text[64] = {};
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t got = ::read(file, text, sizeof text - 1);
    (void)got;
    ::close(file);
  }
  if (text[0] == '\0') ::gethostname(text, sizeof text - 1);
  return hash(kHashOfNothing<std::uint64_t>, text, ::strlen(text));
}

// [RECORD-3] The clock of rank 0 is ahead of ours by t - (sent + got) / 2, where t is its time when
// it answers, sent and got our times around: of several rounds the shortest, whose way there and
// back differ by the least. Error: half of that round trip at the most.
void ask_clock() {
  std::uint64_t shortest = ~std::uint64_t{0};
  long long at = 0, offset = 0;
  for (int i = 0; i < kRounds; ++i) {
    std::uint64_t theirs = 0;
    const std::uint64_t sent = now_ns();
    PMPI_Send(&sent, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
    PMPI_Recv(&theirs, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const std::uint64_t got = now_ns();
    if (got - sent >= shortest) continue;
    shortest = got - sent;
    at = static_cast<long long>(sent + shortest / 2);
    offset = static_cast<long long>(theirs) - at;
  }
  char text[256];
  const int length = ::snprintf(
      text, sizeof text, "{\"clock\":{\"at_ns\":%lld,\"offset_ns\":%lld,\"round_trip_ns\":%llu}}",
      at, offset, static_cast<unsigned long long>(shortest));
  put_text(text, static_cast<std::size_t>(length));
}

void answer_clock(int other) {
  for (int i = 0; i < kRounds; ++i) {
    std::uint64_t theirs = 0;
    PMPI_Recv(&theirs, 1, MPI_UINT64_T, other, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const std::uint64_t now = now_ns();
    PMPI_Send(&now, 1, MPI_UINT64_T, other, kTag, MPI_COMM_WORLD);
  }
}

void measure_clocks() {
  if (rank != 0) {
    if (own_clock) ask_clock();
    return;
  }
  for (int i = 1; machines != nullptr && i < world; ++i) {
    if (settings.always_measure_clock || machines[i] != machines[0]) answer_clock(i);
  }
}

void compare_machines() {
  const std::uint64_t mine = machine();
  std::uint64_t first = mine;
  if (rank == 0) {
    machines = static_cast<std::uint64_t*>(
        ::malloc(sizeof(std::uint64_t) * static_cast<std::size_t>(world)));
  }
  PMPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  PMPI_Gather(&mine, 1, MPI_UINT64_T, machines, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  own_clock = rank != 0 && (settings.always_measure_clock || first != mine);
}

void begin_with(const Identity& identity, bool together) {
  const char* why = "";
  int run = 1;
  bool begun = false;
  if (rank == 0 || !together) begun = begin_in_first_free(settings, run, "", identity, why);
  if (together) PMPI_Bcast(&run, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank != 0 && together) begun = begin_in_run(settings, run, "", identity, why);
  if (!begun) say_not_recorded(settings, rank, why);
  watching.store(begun);
}

void in_child() {
  watching.store(false);
  abandon_file();
}

// together: all ranks are here, and rank 0 says where to write.
void begin_named(bool together) {
  static char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  PMPI_Get_library_version(library, &length);
  library[::strcspn(library, "\n,")] = '\0';
  begin_with({.rank = rank,
              .world = world,
              .host = host_name(),
              .library = library,
              .counts = "the whole tensor; all-to-all: what a rank sends in all; neighbours: what "
                        "goes to all of them",
              .functions = function_names()},
             together);
  ::pthread_atfork(nullptr, nullptr, in_child);
}

}  // namespace

void begin_recording() {
  read_settings(settings);
  if (settings.folder[0] == '\0' || watching.load()) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &world);
  begin_named(true);
  compare_machines();
  measure_clocks();
  if (watching.load()) begin_groups();
}

void begin_session(MPI_Session session) {
  if (sessions.load() > 0) {
    sessions.fetch_add(1);
    return;
  }
  read_settings(settings);
  if (settings.folder[0] == '\0' || watching.load()) return;
  // The library of a program that has sessions has it; the one that this was built with may not.
  using RanksOf = int (*)(MPI_Session, const char*, MPI_Group*);
  const auto ranks_of =
      reinterpret_cast<RanksOf>(::dlsym(RTLD_DEFAULT, "PMPI_Group_from_session_pset"));
  MPI_Group all = MPI_GROUP_NULL;
  if (ranks_of == nullptr || ranks_of(session, "mpi://WORLD", &all) != MPI_SUCCESS) return;
  PMPI_Group_rank(all, &rank);
  PMPI_Group_size(all, &world);
  sessions.store(1);
  begin_named(false);
  if (watching.load()) begin_groups(all);
}

void end_session() {
  if (sessions.load() > 0 && sessions.fetch_sub(1) == 1) end_recording();
}

void end_recording() {
  if (settings.folder[0] == '\0') return;
  const bool was = watching.exchange(false);
  measure_clocks();
  if (!was) return;
  end_groups();
  release_all();
  end_file();
  say_if_no_step_was_marked(settings, rank);
}

void write_before_abort() {
  if (!watching.exchange(false)) return;
  release_all();
  end_file();
}

void leave_process() {
  write_before_abort();
}

namespace {
__attribute__((destructor)) void leave() {
  leave_process();
}
}  // namespace

}  // namespace headway::recorder

// Fills the slots of front.S: finds the MPI that the program has loaded, the recorder that was
// built for its kind, and lets every function go through it; without one to the library itself.
#include "front.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../file/identity.hpp"
#include "functions.hpp"

extern "C" {
extern void* headway_slots[];
extern const char* const headway_names[];
void headway_fill_slots() __attribute__((visibility("hidden")));
void headway_record_step() __attribute__((visibility("default")));
}

namespace headway::recorder {
namespace {

pthread_once_t filled = PTHREAD_ONCE_INIT;
void (*step_of_recorder)() = nullptr;

const char* file_name(const char* path) {
  const char* slash = ::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// The library that holds MPI: one called libmpi... that has PMPI_Init and is not this one.
int is_mpi(dl_phdr_info* info, size_t, void* found) {
  if (info->dlpi_name == nullptr || ::strncmp(file_name(info->dlpi_name), "libmpi", 6) != 0) {
    return 0;
  }
  // Its handles are looked for everywhere: OpenMPI's are variables.
  void* library = ::dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  if (library == nullptr) return 0;
  Dl_info where{};
  void* init = ::dlsym(library, "PMPI_Init");
  if (init == nullptr || ::dladdr(init, &where) == 0 ||
      ::strcmp(where.dli_fname, info->dlpi_name) != 0) {
    return 0;
  }
  *static_cast<void**>(found) = library;
  return 1;
}

// MPI 5's own binary interface has handles of a third kind.
const char* kind_of(void* library) {
  if (::dlsym(library, "ompi_mpi_comm_world") != nullptr) return "openmpi";
  if (::dlsym(library, "MPI_Abi_get_version") != nullptr &&
      ::dlsym(library, "MPIX_Comm_agree") == nullptr) {
    return nullptr;
  }
  return "mpich";
}

// It lies beside this file.
const MpiRecorder* recorder_of(const char* kind) {
  Dl_info here{};
  char path[PATH_MAX];
  if (kind == nullptr || ::dladdr(reinterpret_cast<void*>(&headway_fill_slots), &here) == 0) {
    return nullptr;
  }
  const auto folder = static_cast<int>(file_name(here.dli_fname) - here.dli_fname);
  ::snprintf(path, sizeof path, "%.*slibheadway_mpi_%s.so", folder, here.dli_fname, kind);
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ::fprintf(stderr, "headway record: %s\n", ::dlerror());
    return nullptr;
  }
  return static_cast<const MpiRecorder*>(::dlsym(library, "headway_mpi_recorder"));
}

// Functions that this MPI has and the front does not show, or the other way round.
void warn(int since) {
  const char* levels[] = {"3", "4", "4c"};
  ::fprintf(
      stderr,
      "headway record: this MPI has functions up to --mpi %s, watched are those of --mpi %s\n",
      levels[since - 1], levels[HEADWAY_SINCE - 1]);
}

void absent() {
  ::fprintf(stderr, "headway record: a function was called that this MPI does not have\n");
  ::abort();
}

void fill() {
  void* library = nullptr;
  ::dl_iterate_phdr(is_mpi, &library);
  const bool asked = ::getenv("HEADWAY_RECORD") != nullptr;
  const char* kind = library != nullptr && asked ? kind_of(library) : nullptr;
  const bool known = kind != nullptr;
  const MpiRecorder* recorder =
      library != nullptr && asked ? recorder_of(known ? kind : "other") : nullptr;
  const unsigned count = kFunctions;
  if (recorder != nullptr && recorder->count != count) recorder = nullptr;  // of another version
  const bool says = ranks_of_launcher().rank <= 0;                          // once is enough
  if (library != nullptr && asked && says && (recorder == nullptr || !known)) {
    ::fprintf(stderr, "headway record: this kind of MPI is not known here: %s\n",
              recorder == nullptr ? "not recorded" : "recorded without sizes, groups and times");
  }
  for (unsigned i = 0; i < count; ++i) {
    char name[128];
    ::snprintf(name, sizeof name, "P%s", headway_names[i]);
    void* real = library == nullptr ? nullptr : ::dlsym(library, name);
    headway_slots[i] = real == nullptr ? reinterpret_cast<void*>(&absent) : real;
    if (real == nullptr || recorder == nullptr) continue;
    *recorder->functions[i].real = real;
    headway_slots[i] = recorder->functions[i].wrapper;
  }
  if (recorder != nullptr) step_of_recorder = recorder->step;
  const bool wide = library != nullptr && ::dlsym(library, "PMPI_Send_c") != nullptr;
  const bool mpi4 = library != nullptr && ::dlsym(library, "PMPI_Allreduce_init") != nullptr;
  const int since = wide ? 3 : mpi4 ? 2 : 1;
  if (recorder != nullptr && since != HEADWAY_SINCE && says) warn(since);
}

}  // namespace
}  // namespace headway::recorder

void headway_fill_slots() {
  ::pthread_once(&headway::recorder::filled, headway::recorder::fill);
}

void headway_record_step() {
  if (headway::recorder::step_of_recorder != nullptr) headway::recorder::step_of_recorder();
}

#include "session.hpp"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../file/writer.hpp"
#include "communicators.hpp"
#include "events.hpp"
#include "library.hpp"
#include "members.hpp"

namespace headway::recorder::nccl {

std::atomic<State> state{State::unasked};

namespace {

bool times = false;

void end() {
  if (state.exchange(State::unasked) != State::recording) return;
  end_events();
  end_member_file();
}

void in_child() {
  state.store(State::unasked);
  abandon_events();
  abandon_file();
}

// "NCCL 2.30.7"
const char* library_name() {
  static char name[64];
  const Library& nccl = library();
  const Version version = version_of(nccl.version);
  ::snprintf(name, sizeof name, "%s %d.%d.%d", nccl.is_rccl ? "RCCL as NCCL" : "NCCL",
             version.major, version.minor, version.patch);
  return name;
}

void begin(const Group& group) {
  if (!begin_member_file(group.size, group.rank, library_name(), function_names())) {
    state.store(State::unasked);
    return;
  }
  const Library& nccl = library();
  const char* asked = ::getenv("HEADWAY_RECORD_DEVICE_TIMES");
  const bool wanted = asked == nullptr || ::strcmp(asked, "off") != 0;
  if (wanted && !nccl.known) {
    ::fprintf(stderr,
              "headway record: %s is a version whose interface is not known here (known: 2.7 to "
              "2.32): recorded without times of the device\n",
              library_name());
  }
  // Of others not even what they take for a stream is known.
  if (nccl.known) find_events(nccl.is_rccl);
  times = wanted && begin_events();
  ::pthread_atfork(nullptr, nullptr, in_child);
  // Before what was registered sooner, such as the end of CUDA.
  ::atexit(end);
  state.store(State::recording);
}

__attribute__((constructor)) void load() {
  const char* folder = ::getenv("HEADWAY_RECORD");
  if (folder != nullptr && *folder != '\0') state.store(State::waiting);
}
__attribute__((destructor)) void leave() {
  end();
}

}  // namespace

void tell_group(Group& group, int device) {
  if (state.load() == State::waiting) begin(group);
  if (state.load() != State::recording) return;
  group.local = local_of(device, group.size, group.rank);
  tell_member(group.number, group.size, group.rank, group.local);
}

// The default streams have one handle on all devices (0, cudaStreamLegacy, cudaStreamPerThread), so
// that of a process with several it is not known which one is meant.
bool takes_times(const Stream* stream) {
  return times && (reinterpret_cast<std::uintptr_t>(stream) > 2 || is_one_rank());
}

}  // namespace headway::recorder::nccl

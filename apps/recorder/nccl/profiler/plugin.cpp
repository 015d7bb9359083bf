// What NCCL loads as its profiler (NCCL_PROFILER_PLUGIN): the newest of these versions that it
// knows. It asks for collectives and messages, and with HEADWAY_RECORD_DEVICE_TIMES=on for the
// channels of their kernels, whose stamps are of the device's clock.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "../../file/hash.hpp"
#include "../../file/locked.hpp"
#include "../../file/writer.hpp"
#include "../loaded.hpp"
#include "../members.hpp"
#include "abi.hpp"
#include "calls.hpp"

namespace headway::recorder::nccl::profiler {
namespace {

using namespace record_file;

constexpr int kFine = 0, kFailed = 3;  // ncclSuccess, ncclInternalError

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
enum class State { unasked, waiting, recording };
std::atomic<State> state{State::waiting};
bool device_times = false;

// ---- words of NCCL ----

struct Name {
  const char* name;
  std::uint8_t number;
};
constexpr Name kFunctions[] = {
    {"AllReduce", kAllReduce}, {"AllGather", kAllGather},  {"ReduceScatter", kReduceScatter},
    {"AlltoAll", kAllToAll},   {"Broadcast", kBroadcast},  {"Reduce", kReduce},
    {"Gather", kGather},       {"Scatter", kScatter},      {"Send", kSend},
    {"Recv", kReceive},        {"SendRecv", kSendReceive}, {"PutSignal", kSend},
};

std::uint8_t operation_of(const char* name) {
  for (const Name& row : kFunctions) {
    if (name != nullptr && ::strcmp(name, row.name) == 0) return row.number;
  }
  return kOther;
}

// ncclFunc_t of src/include/nccl_common.h, as versions with v1 have it.
std::uint8_t operation_of(std::uint8_t number) {
  constexpr std::uint8_t operations[] = {kBroadcast, kReduce,      kAllGather, kReduceScatter,
                                         kAllReduce, kSendReceive, kSend,      kReceive};
  return number < sizeof operations ? operations[number] : std::uint8_t{kOther};
}

// NCCL has a name for all but one of its types, ncclUint8.
Element type_of(const char* name) {
  constexpr const char* names[] = {"ncclInt8",     "ncclUint8",      "ncclInt32",
                                   "ncclUint32",   "ncclInt64",      "ncclUint64",
                                   "ncclFloat16",  "ncclFloat32",    "ncclFloat64",
                                   "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
  int number = 0;
  for (const char* one : names) {
    if (name != nullptr && ::strcmp(name, one) == 0) return element_of(number);
    ++number;
  }
  return name != nullptr && ::strcmp(name, "Unknown") == 0 ? element_of(1) : Element{};
}
Element type_of(std::uint8_t number) {
  return element_of(number);
}

// ---- the file ----

const char* library_name() {
  static char name[64] = "NCCL";
  void* library = loaded_library_with("ncclGetVersion");
  if (library == nullptr) return name;  // linked into the program
  auto* get = reinterpret_cast<int (*)(int*)>(::dlsym(library, "ncclGetVersion"));
  int code = 0;
  if (get == nullptr || get(&code) != kFine || code < 10'000) return name;
  const Version version = version_of(code);
  ::snprintf(name, sizeof name, "NCCL %d.%d.%d", version.major, version.minor, version.patch);
  struct Fault {
    const char* of;
    bool of_device_times;
    const char* what;
  };
  // https://github.com/NVIDIA/nccl/issues/
  constexpr Fault faults[] = {
      {"NCCL 2.30.3", false, "crashes with a profiler plugin (issue 2112): take --nccl calls"},
      {"NCCL 2.31.2", true,
       "is 4 to 13 % slower at 128 KB to 4 MB with times of the device (issue 2355): take --nccl "
       "calls"},
  };
  for (const Fault& fault : faults) {
    if (::strcmp(name, fault.of) == 0 && (device_times || !fault.of_device_times)) {
      ::fprintf(stderr, "headway record: %s %s\n", name, fault.what);
    }
  }
  return name;
}

void end() {
  {
    const Locked locked(lock);
    if (state.exchange(State::unasked) != State::recording) return;
  }
  put_left(nullptr);
  end_member_file();
}

void in_child() {
  state = State::unasked;
  abandon_file();
}

int device_in_use() {
  void* library = loaded_library_named("libcuda.so");
  auto* get = library == nullptr
                  ? nullptr
                  : reinterpret_cast<int (*)(int*)>(::dlsym(library, "cuCtxGetDevice"));
  int device = -1;
  return get != nullptr && get(&device) == 0 ? device : -1;
}

// Under `lock`.
void begin(int size, int rank) {
  const char* asked = ::getenv("HEADWAY_RECORD_DEVICE_TIMES");
  device_times = asked != nullptr && ::strcmp(asked, "on") == 0;
  if (!begin_member_file(size, rank, library_name(), "[]")) {
    state = State::unasked;
    return;
  }
  ::pthread_atfork(nullptr, nullptr, in_child);
  state = State::recording;
}

// A communicator whose number and own rank are known by now.
void tell(Context& context, std::uint64_t comm) {
  const Locked locked(lock);
  if (state == State::waiting) begin(context.size, context.rank);
  if (state == State::recording && context.number == 0) {
    const std::uint32_t number = hash(kHashOfNothing<std::uint32_t>, &comm, sizeof comm);
    context.number = number == 0 ? 1 : number;
    context.local = local_of(device_in_use(), context.size, context.rank);
    tell_member(context.number, context.size, context.rank, context.local);
  }
}

// ---- what NCCL calls ----

int make_context(void** context, Context*& made) {
  made = static_cast<Context*>(::calloc(1, sizeof(Context)));
  *context = made;
  if (made != nullptr) made->rank = -1;
  return made == nullptr ? kFailed : kFine;
}

// To v3 nothing is known of the communicator but what its events say.
int init1(void** context, int* mask) {
  Context* made = nullptr;
  if (make_context(context, made) != kFine) return kFailed;
  *mask = kColl | kP2p;
  return kFine;
}

int init4(void** context, int* mask, const char*, std::uint64_t comm, int, int ranks, int rank,
          Logger) {
  Context* made = nullptr;
  if (make_context(context, made) != kFine) return kFailed;
  made->size = ranks;
  made->rank = rank;
  tell(*made, comm);
  *mask = state != State::recording ? 0 : kColl | kP2p;
  if (*mask != 0 && device_times) *mask |= kKernelChannel;
  return kFine;
}

int init5(void** context, std::uint64_t comm, int* mask, const char* name, int nodes, int ranks,
          int rank, Logger logger) {
  return init4(context, mask, name, comm, nodes, ranks, rank, logger);
}

int init6(void** context, std::uint64_t comm, int* mask, const char* name, int nodes, int ranks,
          int rank, Logger logger) {
  const int result = init4(context, mask, name, comm, nodes, ranks, rank, logger);
  if (*mask != 0) *mask |= kCopyEngine;
  return result;
}

// Before v4 the events have the communicator.
template <class Call>
void know(Context& context, int rank, const Call& call) {
  if (context.number != 0) return;
  context.rank = rank;
  tell(context, call.comm);
}

template <class Call>
int start_collective(const Context& context, void** handle, const Call& call, int channels) {
  const std::uint8_t op = operation_of(call.function);
  const bool rooted = op == kBroadcast || op == kReduce || op == kGather || op == kScatter;
  *handle = start_call(context, {.op = op,
                                 .collective = true,
                                 .element = type_of(call.type),
                                 .count = call.count,
                                 .peer = rooted ? call.root : -1,
                                 .sequence = call.sequence,
                                 .channels = channels});
  return kFine;
}

template <class Call>
int start_message(const Context& context, void** handle, const Call& call, int channels) {
  *handle = start_call(context, {.op = operation_of(call.function),
                                 .element = type_of(call.type),
                                 .count = call.count,
                                 .peer = call.peer,
                                 .channels = channels});
  return kFine;
}

template <class Event>
int start_old(void* opaque, void** handle, Event* event) {
  *handle = nullptr;
  auto* context = static_cast<Context*>(opaque);
  if (context == nullptr) return kFine;
  if (event->kind == kColl) {
    know(*context, event->rank, event->coll);
    return start_collective(*context, handle, event->coll, 0);
  }
  if (event->kind == kP2p) {
    know(*context, event->rank, event->p2p);
    return start_message(*context, handle, event->p2p, 0);
  }
  return kFine;
}

int channels_of(int channels) {
  return device_times ? channels : 0;
}

int start4(void* opaque, void** handle, Event4* event) {
  *handle = nullptr;
  if (opaque == nullptr) return kFine;
  const auto& context = *static_cast<Context*>(opaque);
  if (event->kind == kColl) {
    return start_collective(context, handle, event->coll, channels_of(event->coll.channels));
  }
  if (event->kind == kP2p) {
    return start_message(context, handle, event->p2p, channels_of(event->p2p.channels));
  }
  if (event->kind == kKernelChannel) {
    *handle = start_channel(event->parent, event->channel.channel, event->channel.device_ns);
  }
  return kFine;
}

int start5(void* opaque, void** handle, Event5* event) {
  *handle = nullptr;
  if (opaque == nullptr) return kFine;
  const auto& context = *static_cast<Context*>(opaque);
  if (event->kind == kColl) {
    const Coll4& coll = event->coll.coll;
    return start_collective(context, handle, coll, channels_of(coll.channels));
  }
  if (event->kind == kP2p) {
    const P2p4& p2p = event->p2p.p2p;
    return start_message(context, handle, p2p, channels_of(p2p.channels));
  }
  if (event->kind == kCopyEngine) return start_collective(context, handle, event->copy_engine, 0);
  if (event->kind == kKernelChannel) {
    *handle = start_channel(event->parent, event->channel.channel, event->channel.device_ns);
  }
  return kFine;
}

int stop(void* handle) {
  stop_call(handle);
  return kFine;
}

int record_nothing(void*, int, StateArguments*) {
  return kFine;
}

int record(void* handle, int what, StateArguments* arguments) {
  if (what == kKernelChannelStop && arguments != nullptr) {
    stop_channel(handle, arguments->device_ns);
  }
  return kFine;
}

// The context is left where it is: what NCCL still says of the communicator does no harm.
int finalize(void* context) {
  if (context == nullptr) return kFine;
  put_left(static_cast<Context*>(context));
  write_now();
  return kFine;
}

__attribute__((constructor)) void load() {
  const char* folder = ::getenv("HEADWAY_RECORD");
  if (folder == nullptr || *folder == '\0') state = State::unasked;
}
__attribute__((destructor)) void leave() {
  end();
}

constexpr char kName[] = "headway";

}  // namespace
}  // namespace headway::recorder::nccl::profiler

extern "C" {
#define EXPORTED __attribute__((visibility("default"))) extern const
using namespace headway::recorder::nccl::profiler;
EXPORTED Plugin1 ncclProfiler_v1;
EXPORTED Plugin2 ncclProfiler_v2;
EXPORTED Plugin3 ncclProfiler_v3;
EXPORTED Plugin4 ncclProfiler_v4;
EXPORTED Plugin5 ncclProfiler_v5;
EXPORTED Plugin6 ncclProfiler_v6;
}
const Plugin1 ncclProfiler_v1 = {kName, init1, start_old<Event1>, stop, record_nothing, finalize};
const Plugin2 ncclProfiler_v2 = {kName, init1, start_old<Event2>, stop, record_nothing, finalize};
const Plugin3 ncclProfiler_v3 = {kName, init1, start_old<Event3>, stop, record_nothing, finalize};
const Plugin4 ncclProfiler_v4 = {kName, init4, start4, stop, record, finalize};
const Plugin5 ncclProfiler_v5 = {kName, init5, start5, stop, record, finalize};
const Plugin6 ncclProfiler_v6 = {kName, init6, start5, stop, record, finalize};

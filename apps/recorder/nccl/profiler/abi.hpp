// The interface by which NCCL tells a profiler plugin what it does, in the versions that it has
// had, as far as they are read here; declared by ourselves. Facts:
// src/include/plugin/nccl_profiler.h and profiler/profiler_v1.h to v6.h of NCCL 2.23 (v1) to 2.30.7
// (v6), ext-profiler/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::recorder::nccl::profiler {

enum Kind : std::uint64_t {  // of events, and bits of the mask that a plugin returns
  kGroup = 1,
  kColl = 2,
  kP2p = 4,
  kKernelChannel = 64,    // since v3; with the device's clock since v4
  kCopyEngine = 1 << 12,  // since v6: collectives by copy engines, which are no kernels
};
inline constexpr int kKernelChannelStop = 22;  // a state of a kernel channel, since v4

// ---- v1: functions and types by number ----

struct Coll1 {
  const char* name;
  std::uint64_t comm;
  std::uint64_t sequence;
  std::uint8_t function;
  const void* from;
  void* to;
  std::size_t count;
  int root;
  std::uint8_t type;
  std::uint32_t reduction;
  std::size_t traffic;
  std::uint8_t most_channels, warps, algorithm, protocol;
  int collnet, nvls;
};
struct P2p1 {
  const char* name;
  std::uint64_t comm;
  std::uint8_t function;
  void* buffer;
  std::uint8_t type;
  std::size_t count;
  int peer;
};

// ---- v2: by name ----

struct Coll2 {
  const char* name;
  std::uint64_t comm;
  std::uint64_t sequence;
  const char* function;
  const void* from;
  void* to;
  std::size_t count;
  int root;
  const char* type;
  std::size_t traffic;
  std::uint8_t most_channels, warps;
  const char* algorithm;
  const char* protocol;
};
struct P2p2 {
  const char* name;
  std::uint64_t comm;
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
};

// ---- v3: without traffic ----

struct Coll3 {
  const char* name;
  std::uint64_t comm;
  std::uint64_t sequence;
  const char* function;
  const void* from;
  void* to;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t most_channels, warps;
  const char* algorithm;
  const char* protocol;
};

// ---- v4: who the communicator is, init says; the device's clock ----

struct Coll4 {
  std::uint64_t sequence;
  const char* function;
  const void* from;
  void* to;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels, warps;
  const char* algorithm;
  const char* protocol;
};
struct P2p4 {
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};
struct KernelChannel {
  std::uint8_t channel;
  std::uint64_t device_ns;  // when it began, by the device's clock
};

// ---- v5: with the group, v6: copy engines ----

struct Coll5 {
  Coll4 coll;
  void* group;
};
struct P2p5 {
  P2p4 p2p;
  void* group;
};
struct CopyEngine6 {
  std::uint64_t sequence;
  const char* function;
  const void* from;
  void* to;
  std::size_t count;
  int root;
  const char* type;
  const char* synchronisation;
  bool within_batch;
  std::uint32_t batch, batches, number;
  void* stream;
};

/// An event of a version: what it is, what it belongs to, whose rank's; then the value of its kind.
/// Others than those here lie in the same place.
template <class Type, class Coll, class P2p>
struct Event {
  Type kind;
  void* parent;
  int rank;
  union {
    Coll coll;
    P2p p2p;
    KernelChannel channel;    // v4 and later
    CopyEngine6 copy_engine;  // v6
  };
};
using Event1 = Event<std::uint8_t, Coll1, P2p1>;
using Event2 = Event<std::uint8_t, Coll2, P2p2>;
using Event3 = Event<std::uint8_t, Coll3, P2p2>;
using Event4 = Event<std::uint8_t, Coll4, P2p4>;
using Event5 = Event<std::uint64_t, Coll5, P2p5>;
using Event6 = Event5;

union StateArguments {
  std::uint64_t device_ns;  // of a kernel channel that stopped, since v4
  void* data;
};

using Logger = void (*)(int level, unsigned long flags, const char* file, int line,
                        const char* form, ...);

/// What the plugin exports, ncclProfiler_v1 to _v6.
template <class Init, class Event>
struct Plugin {
  const char* name;
  Init init;
  int (*start)(void* context, void** handle, Event* event);
  int (*stop)(void* handle);
  int (*record)(void* handle, int state, StateArguments* arguments);
  int (*finalize)(void* context);
};
using Init1 = int (*)(void** context, int* mask);  // to v3
using Init4 = int (*)(void** context, int* mask, const char* name, std::uint64_t comm, int nodes,
                      int ranks, int rank, Logger logger);
using Init5 = int (*)(void** context, std::uint64_t comm, int* mask, const char* name, int nodes,
                      int ranks, int rank, Logger logger);
using Plugin1 = Plugin<Init1, Event1>;
using Plugin2 = Plugin<Init1, Event2>;
using Plugin3 = Plugin<Init1, Event3>;
using Plugin4 = Plugin<Init4, Event4>;
using Plugin5 = Plugin<Init5, Event5>;
using Plugin6 = Plugin<Init5, Event6>;

// Where the fields lie that are read, by the headers above and the rules of C on x86-64.
#define LIES(Struct, field, at) static_assert(offsetof(Struct, field) == (at))
LIES(Event1, parent, 8);
LIES(Event1, rank, 16);
LIES(Event1, coll, 24);
LIES(Event5, parent, 8);
LIES(Event5, rank, 16);
LIES(Event5, coll, 24);
LIES(Coll1, comm, 8);
LIES(Coll1, sequence, 16);
LIES(Coll1, function, 24);
LIES(Coll1, count, 48);
LIES(Coll1, root, 56);
LIES(Coll1, type, 60);
LIES(Coll1, reduction, 64);
LIES(Coll1, traffic, 72);
LIES(Coll1, most_channels, 80);
LIES(Coll1, collnet, 84);
LIES(P2p1, function, 16);
LIES(P2p1, buffer, 24);
LIES(P2p1, type, 32);
LIES(P2p1, count, 40);
LIES(P2p1, peer, 48);
LIES(Coll2, function, 24);
LIES(Coll2, count, 48);
LIES(Coll2, root, 56);
LIES(Coll2, type, 64);
LIES(Coll2, traffic, 72);
LIES(Coll2, most_channels, 80);
LIES(Coll2, protocol, 96);
LIES(P2p2, function, 16);
LIES(P2p2, type, 32);
LIES(P2p2, count, 40);
LIES(P2p2, peer, 48);
LIES(Coll3, type, 64);
LIES(Coll3, most_channels, 72);
LIES(Coll3, protocol, 88);
LIES(Coll4, function, 8);
LIES(Coll4, count, 32);
LIES(Coll4, root, 40);
LIES(Coll4, type, 48);
LIES(Coll4, channels, 56);
LIES(Coll4, warps, 57);
LIES(Coll4, protocol, 72);
LIES(P2p4, type, 16);
LIES(P2p4, count, 24);
LIES(P2p4, peer, 32);
LIES(P2p4, channels, 36);
LIES(KernelChannel, device_ns, 8);
LIES(Coll5, group, 80);
LIES(P2p5, group, 40);
LIES(CopyEngine6, count, 32);
LIES(CopyEngine6, root, 40);
LIES(CopyEngine6, type, 48);
LIES(CopyEngine6, within_batch, 64);
LIES(CopyEngine6, batch, 68);
LIES(CopyEngine6, stream, 80);
LIES(Plugin6, start, 16);
LIES(Plugin6, record, 32);
LIES(Plugin6, finalize, 40);
#undef LIES

}  // namespace headway::recorder::nccl::profiler

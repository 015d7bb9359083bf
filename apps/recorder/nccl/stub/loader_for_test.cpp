// Plays the part of NCCL that loads a profiler plugin (NCCL_PROFILER_PLUGIN), in the version of its
// interface that is the argument. Events are bytes put where NCCL's headers of that version have
// them (src/include/plugin/profiler/profiler_v1.h to v6.h), whatever the plugin's own declarations
// say.
//
//   loader VERSION: prints the mask; ends with 3
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "headway/record.h"

namespace {

int version = 0;

struct Bytes {
  alignas(16) unsigned char at[256] = {};
  template <class T>
  void put(std::size_t place, T value) {
    std::memcpy(at + place, &value, sizeof value);
  }
};

constexpr std::size_t kUnion = 24;
constexpr std::uint64_t kComm = 0x1234567890abcdef;

void put_kind(Bytes& event, std::uint64_t kind, void* parent, int rank) {
  if (version >= 5) {
    event.put(0, kind);
  } else {
    event.at[0] = static_cast<unsigned char>(kind);
  }
  event.put(8, parent);
  event.put(16, rank);
}

Bytes collective(const char* function, int number, std::size_t count, int root, int rank,
                 std::uint64_t sequence, int channels) {
  Bytes event;
  put_kind(event, 2, nullptr, rank);
  if (version <= 3) {
    event.put(kUnion + 8, kComm);
    event.put(kUnion + 16, sequence);
    if (version == 1) {
      event.put(kUnion + 24, static_cast<std::uint8_t>(number));
    } else {
      event.put(kUnion + 24, function);
    }
    event.put(kUnion + 48, count);
    event.put(kUnion + 56, root);
    if (version == 1) {
      event.put(kUnion + 60, std::uint8_t{7});
    } else {
      event.put(kUnion + 64, "ncclFloat32");
    }
    event.put(kUnion + (version == 3 ? 72 : 80), static_cast<std::uint8_t>(channels));
  } else {
    event.put(kUnion, sequence);
    event.put(kUnion + 8, function);
    event.put(kUnion + 32, count);
    event.put(kUnion + 40, root);
    event.put(kUnion + 48, "ncclFloat32");
    event.put(kUnion + 56, static_cast<std::uint8_t>(channels));
  }
  return event;
}

Bytes message(const char* function, int number, std::size_t count, int peer, int rank,
              int channels) {
  Bytes event;
  put_kind(event, 4, nullptr, rank);
  if (version <= 3) {
    event.put(kUnion + 8, kComm);
    if (version == 1) {
      event.put(kUnion + 16, static_cast<std::uint8_t>(number));
      event.put(kUnion + 32, std::uint8_t{9});
    } else {
      event.put(kUnion + 16, function);
      event.put(kUnion + 32, "ncclBfloat16");
    }
    event.put(kUnion + 40, count);
    event.put(kUnion + 48, peer);
  } else {
    event.put(kUnion, function);
    event.put(kUnion + 16, "ncclBfloat16");
    event.put(kUnion + 24, count);
    event.put(kUnion + 32, peer);
    event.put(kUnion + 36, static_cast<std::uint8_t>(channels));
  }
  return event;
}

// By copy engines, since v6.
Bytes copied(std::size_t count, int rank, std::uint64_t sequence) {
  Bytes event;
  put_kind(event, 1 << 12, nullptr, rank);
  event.put(kUnion, sequence);
  event.put(kUnion + 8, "AllGather");
  event.put(kUnion + 32, count);
  event.put(kUnion + 40, 0);
  event.put(kUnion + 48, "Unknown");  // as NCCL calls ncclUint8
  return event;
}

struct Plugin {
  const char* name;
  void* init;
  int (*start)(void*, void**, void*);
  int (*stop)(void*);
  int (*record)(void*, int, void*);
  int (*finalize)(void*);
};

void log(int, unsigned long, const char*, int, const char*, ...) {}

int init(const Plugin& plugin, void** context, int* mask, int ranks, int rank) {
  using Log = void (*)(int, unsigned long, const char*, int, const char*, ...);
  if (version <= 3) return reinterpret_cast<int (*)(void**, int*)>(plugin.init)(context, mask);
  if (version == 4) {
    return reinterpret_cast<int (*)(void**, int*, const char*, std::uint64_t, int, int, int, Log)>(
        plugin.init)(context, mask, "name", kComm, 1, ranks, rank, log);
  }
  return reinterpret_cast<int (*)(void**, std::uint64_t, int*, const char*, int, int, int, Log)>(
      plugin.init)(context, kComm, mask, "name", 1, ranks, rank, log);
}

// What a call's channels say, some behind the host's stop of the call: from 1,000 to 6,000 ns.
void run_channels(const Plugin& plugin, void* context, void* call, int channels,
                  bool last_is_lost) {
  void* handles[2] = {};
  std::uint64_t clock = 7'000'000'000'000;
  for (int i = 0; i < channels; ++i) {
    Bytes event;
    put_kind(event, 64, call, 0);
    event.put(kUnion, static_cast<std::uint8_t>(i));
    event.put(kUnion + 8, clock + 1000 + static_cast<std::uint64_t>(10 * i));
    plugin.start(context, &handles[i], event.at);
    if (i == 0) plugin.stop(call);
  }
  for (int i = 0; i < channels - (last_is_lost ? 1 : 0); ++i) {
    std::uint64_t state[4] = {clock + 5000 + static_cast<std::uint64_t>(1000 * i)};
    plugin.record(handles[i], 22, state);
    plugin.stop(handles[i]);
    plugin.record(handles[i], 22, state);  // what is said of a call that is over
  }
}

void play(const Plugin& plugin, void* context, int mask, Bytes event, int channels) {
  void* handle = nullptr;
  plugin.start(context, &handle, event.at);
  std::uint64_t nothing[4] = {};
  plugin.record(handle, 5, nothing);  // states of proxies, which were not asked for
  if (mask & 64) {
    run_channels(plugin, context, handle, channels, false);
  } else {
    plugin.stop(handle);
  }
  plugin.stop(handle);
}

}  // namespace

int main(int argc, char** argv) {
  version = argc > 1 ? std::atoi(argv[1]) : 0;
  const char* path = std::getenv("NCCL_PROFILER_PLUGIN");
  const int rank = std::atoi(std::getenv("RANK"));
  void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", path == nullptr ? "no plugin" : ::dlerror());
    return 1;
  }
  const auto* plugin = static_cast<const Plugin*>(
      ::dlsym(library, ("ncclProfiler_v" + std::to_string(version)).c_str()));
  if (plugin == nullptr) return 2;
  void* context = nullptr;
  int mask = -1;
  if (init(*plugin, &context, &mask, 4, rank) != 0 || context == nullptr) return 4;
  std::printf("%s mask %d\n", plugin->name, mask);
  for (std::uint64_t step = 0; step < 3; ++step) {
    headway_step();
    play(*plugin, context, mask, collective("AllReduce", 4, 1000, 0, rank, step, 2), 2);
    play(*plugin, context, mask, collective("AllGather", 2, 1000, 0, rank, step, 2), 2);
    play(*plugin, context, mask, collective("Reduce", 1, 1000, 2, rank, step, 1), 1);
    play(*plugin, context, mask, message("Send", 6, 500, (rank + 1) % 4, rank, 1), 1);
    if (mask & 1 << 12) {
      void* handle = nullptr;
      Bytes event = copied(100, rank, step);
      plugin->start(context, &handle, event.at);
      plugin->stop(handle);
    }
  }
  play(*plugin, context, mask, collective("Broadcast", 0, 1000, 1, rank, 0, 3),
       1);  // of 3 channels
  // A kind that was not asked for, and a call of which a channel never says that it stopped.
  void* handle = context;
  Bytes group;
  put_kind(group, 1, nullptr, rank);
  plugin->start(context, &handle, group.at);
  if (handle != nullptr) return 5;
  Bytes last = collective("ReduceScatter", 3, 1000, 0, rank, 0, 2);
  plugin->start(context, &handle, last.at);
  if (mask & 64) run_channels(*plugin, context, handle, 2, true);
  plugin->stop(handle);
  plugin->finalize(context);
  ::dlclose(library);
  return 3;
}

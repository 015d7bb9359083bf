// A stand-in for NCCL (libnccl.so.2) with the functions of calls.def and own.def: it checks what it
// is given, writes down every argument (STUB_LOG) and what it does to streams (STUB_TRUTH), and
// says it is of version STUB_VERSION. A call takes 20 us and 1 ns a byte of its buffer; those of a
// group on one stream 20 us and the bytes of all.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "declared_for_test.hpp"

namespace headway::recorder::nccl {

struct Communicator {
  int number, size, rank, device;
  bool answers = true;  // how many ranks it has
};

namespace {

constexpr Result kInvalidArgument = 4;

struct Work {
  std::string function;
  Stream* stream;
  std::uint64_t bytes;
};
thread_local int depth = 0, inner = 0;
thread_local bool group_failed = false;
thread_local std::vector<Work> waiting;
int communicators = 0, ids = 0;

std::FILE* file_of(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr) return nullptr;
  std::FILE* file = std::fopen(path, "w");
  if (file != nullptr) std::setvbuf(file, nullptr, _IOLBF, 0);
  return file;
}

void write(std::FILE* file, Comm comm) {
  std::fprintf(file, " comm%d", comm == nullptr ? 0 : comm->number);
}
void write(std::FILE* file, Stream* stream) {
  std::fprintf(file, " stream%d", stub_number_of(stream));
}
void write(std::FILE* file, const void* pointer) {
  std::fprintf(file, " %p", pointer);
}
void write(std::FILE* file, SignalDescription* signals) {
  std::fprintf(file, " {%d %d}", signals->count, signals->peer);
}
void write(std::FILE* file, const std::size_t* counts) {
  std::fprintf(file, " [%zu]", counts[0]);
}
void write(std::FILE* file, const UniqueId& id) {
  std::fprintf(file, " id%d", id.bytes[0]);
}
template <class Number>
requires std::is_integral_v<Number>
void write(std::FILE* file, Number number) {
  std::fprintf(file, " %lld", static_cast<long long>(number));
}

std::FILE* log_file() {
  static std::FILE* const file = file_of("STUB_LOG");
  return file;
}

template <class... Arguments>
void log(const char* function, const Arguments&... arguments) {
  std::FILE* const file = log_file();
  if (file == nullptr || inner > 0) return;
  std::fprintf(file, "%s", function);
  (write(file, arguments), ...);
  std::fprintf(file, "\n");
}

void run(const std::vector<Work>& all) {
  static std::FILE* truth = file_of("STUB_TRUTH");
  std::map<Stream*, std::uint64_t> bytes;
  std::vector<Stream*> order;
  for (const Work& work : all) {
    if (!bytes.count(work.stream)) order.push_back(work.stream);
    bytes[work.stream] += work.bytes;
  }
  for (Stream* stream : order) {
    const std::uint64_t ns = 20'000 + bytes[stream];
    const std::uint64_t begin = stub_work(stream, ns);
    if (truth == nullptr || begin == 0) continue;
    for (const Work& work : all) {
      if (work.stream != stream) continue;
      std::fprintf(truth, "%s %llu %llu\n", work.function.c_str(),
                   static_cast<unsigned long long>(begin), static_cast<unsigned long long>(ns));
    }
  }
}

Result done(const char* function, std::size_t count, DataType type, Comm comm, Stream* stream) {
  if (comm == nullptr || stream == nullptr || type < -1 || type >= 12) {
    group_failed = group_failed || depth > 0;
    return kInvalidArgument;
  }
  if (inner > 0) return kSuccess;
  // What NCCL calls of its own, as ncclBcast calls ncclBroadcast, is not the program's.
  ++inner;
  ncclBroadcast(nullptr, nullptr, count, type, 0, comm, stream);
  --inner;
  const Work work{function, stream, count * element_of(type).bytes};
  if (depth == 0) {
    run({work});
  } else {
    waiting.push_back(work);
  }
  return kSuccess;
}

std::size_t count_of(std::size_t count) {
  return count;
}
std::size_t count_of(const std::size_t* counts) {
  return counts[0];
}

Comm make(int size, int rank, int device) {
  return new Communicator{++communicators, size, rank, device};
}

}  // namespace
}  // namespace headway::recorder::nccl

extern "C" {
namespace headway::recorder::nccl {

int (*stub_color_of)(int rank) = nullptr;
void stub_hush_comm(Comm comm) {
  comm->answers = false;
}

#define BARE(...) __VA_ARGS__
#define COLLECTIVE(function, op, bytes, root, arguments, ...)    \
  Result function(__VA_ARGS__) {                                 \
    log(#function, BARE arguments);                              \
    return done(#function, count_of(count), type, comm, stream); \
  }
#define CONFIGURED(function, op, bytes, root, arguments, ...)   \
  COLLECTIVE(function, op, bytes, root, arguments, __VA_ARGS__) \
  Result function##Config(__VA_ARGS__, const void* config) {    \
    log(#function "Config", BARE arguments, config);            \
    return done(#function "Config", count, type, comm, stream); \
  }
#define MESSAGE(function, op, arguments, ...) \
  COLLECTIVE(function, op, whole, peer, arguments, __VA_ARGS__)
#define UNSIZED(function, op, peer, arguments, ...) \
  Result function(__VA_ARGS__) {                    \
    log(#function, BARE arguments);                 \
    return done(#function, 0, 0, comm, stream);     \
  }
#include "../calls.def"

Result ncclGetVersion(int* version) {
  const char* said = std::getenv("STUB_VERSION");
  *version = said == nullptr ? 23007 : std::atoi(said);
  return kSuccess;
}
Result ncclCommCount(Comm comm, int* ranks) {
  if (comm == nullptr || !comm->answers) return kInvalidArgument;
  *ranks = comm->size;
  return kSuccess;
}
Result ncclCommUserRank(Comm comm, int* rank) {
  if (comm == nullptr) return kInvalidArgument;
  *rank = comm->rank;
  return kSuccess;
}
Result ncclCommCuDevice(Comm comm, int* device) {
  if (comm == nullptr) return kInvalidArgument;
  *device = comm->device;
  return kSuccess;
}
Result ncclGetUniqueId(UniqueId* id) {
  *id = {};
  id->bytes[0] = static_cast<char>(++ids);
  return kSuccess;
}
Result ncclGroupStart() {
  log("ncclGroupStart");
  if (depth++ == 0) group_failed = false;
  return kSuccess;
}
Result ncclGroupEnd() {
  log("ncclGroupEnd");
  if (depth == 0) return kInvalidUsage;
  if (--depth > 0) return kSuccess;
  if (!group_failed) run(waiting);
  waiting.clear();
  return group_failed ? kInvalidArgument : kSuccess;
}
Result ncclGroupSimulateEnd(void* information) {
  log("ncclGroupSimulateEnd", information);
  if (depth == 0) return kInvalidUsage;
  if (--depth == 0) waiting.clear();
  return kSuccess;
}
Result ncclCommInitRank(Comm* comm, int ranks, UniqueId id, int rank) {
  log("ncclCommInitRank", ranks, id, rank);
  *comm = make(ranks, rank, stub_device());
  return kSuccess;
}
Result ncclCommInitRankConfig(Comm* comm, int ranks, UniqueId id, int rank, void* config) {
  log("ncclCommInitRankConfig", ranks, id, rank, static_cast<const void*>(config));
  *comm = make(ranks, rank, stub_device());
  return kSuccess;
}
Result ncclCommInitRankScalable(Comm* comm, int ranks, int rank, int many, UniqueId* all,
                                void* config) {
  log("ncclCommInitRankScalable", ranks, rank, many, all[0], static_cast<const void*>(config));
  *comm = make(ranks, rank, stub_device());
  return kSuccess;
}
Result ncclCommInitAll(Comm* comms, int devices, const int* list) {
  log("ncclCommInitAll", devices);
  for (int i = 0; i < devices; ++i) comms[i] = make(devices, i, list == nullptr ? i : list[i]);
  return kSuccess;
}
Result ncclCommSplit(Comm comm, int color, int key, Comm* made, void* config) {
  log("ncclCommSplit", comm, color, key, static_cast<const void*>(config));
  *made = nullptr;
  if (comm == nullptr) return kInvalidArgument;
  if (color < 0) return kSuccess;
  int size = 0, rank = 0;
  for (int other = 0; other < comm->size; ++other) {
    if (stub_color_of(other) != color) continue;
    if (other < comm->rank) ++rank;
    ++size;
  }
  *made = make(size, rank, comm->device);
  return kSuccess;
}
Result ncclCommShrink(Comm comm, int* excluded, int many, Comm* made, void* config, int flags) {
  log("ncclCommShrink", comm, many, flags, static_cast<const void*>(config));
  int rank = comm->rank;
  for (int i = 0; i < many; ++i) rank -= excluded[i] < comm->rank ? 1 : 0;
  *made = make(comm->size - many, rank, comm->device);
  return kSuccess;
}
Result ncclCommGrow(Comm comm, int ranks, const UniqueId* id, int rank, Comm* made, void* config) {
  log("ncclCommGrow", comm, ranks, rank, static_cast<const void*>(config));
  if (comm == nullptr && id == nullptr) return kInvalidArgument;
  *made = make(ranks, comm == nullptr ? rank : comm->rank, stub_device());
  return kSuccess;
}
Result ncclCommFinalize(Comm comm) {
  log("ncclCommFinalize", comm);
  return comm == nullptr ? kInvalidArgument : kSuccess;
}
Result ncclCommDestroy(Comm comm) {
  log("ncclCommDestroy", comm);
  if (comm == nullptr) return kSuccess;
  delete comm;
  return kSuccess;
}
Result ncclCommAbort(Comm comm) {
  return ncclCommDestroy(comm);
}
Result ncclCommRevoke(Comm comm, int flags) {
  log("ncclCommRevoke", comm, flags);
  return kSuccess;
}
Result ncclCommGetUniqueId(Comm comm, UniqueId* id) {
  return comm == nullptr ? kInvalidArgument : ncclGetUniqueId(id);
}
Result ncclRedOpCreatePreMulSum(Reduction* made, void*, DataType type, int, Comm comm) {
  log("ncclRedOpCreatePreMulSum", type, comm);
  *made = 100;
  return kSuccess;
}

}  // namespace headway::recorder::nccl
}

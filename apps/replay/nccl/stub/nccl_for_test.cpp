// A stand-in for NCCL (libnccl.so.2): it checks what it is given and logs a line for each call,
// with what ranks of one communicator have to have alike. A call takes 20 us and 1 ns a byte.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "../../../recorder/nccl/abi.hpp"
#include "stub_for_test.hpp"

namespace headway::recorder::nccl {
struct Communicator {
  std::string id;
  int ranks, own;
};
}  // namespace headway::recorder::nccl

namespace headway::replay::nccl {
namespace {

using recorder::nccl::Comm;
using recorder::nccl::UniqueId;

std::set<Comm> comms;
int depth = 0, ids = 0;

std::size_t width(int type) {
  stub_expect(type >= 0 && type < 12, "a type that NCCL has not");
  return recorder::nccl::element_of(type).bytes;
}

// `root`: or -1; `parts`: of how many ranks the whole is, by the bytes on either side.
void run(const char* name, const void* from, std::size_t sent, void* to, std::size_t received,
         int type, int root, Comm comm, Stream* stream) {
  stub_expect(comms.contains(comm), "a communicator that is not there");
  stub_expect(root < comm->ranks, "a root that is not there");
  stub_expect_stream(stream);
  if (from != nullptr) stub_expect_memory(from, sent * width(type));
  if (to != nullptr) stub_expect_memory(to, received * width(type));
  const std::size_t most = sent > received ? sent : received;
  stream->ns += 20'000 + most * width(type);
  stub_log("%s %s %d %d %zu %d %d\n", comm->id.c_str(), name, comm->own, comm->ranks, most, type,
           root);
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = 23203;
  return 0;
}
int ncclGetUniqueId(UniqueId* id) {
  std::memset(id->bytes, 0, sizeof id->bytes);
  std::snprintf(id->bytes, sizeof id->bytes, "%d-%d", static_cast<int>(::getpid()), ++ids);
  return 0;
}
// Returns when all ranks are there, as NCCL's does: each leaves a file.
int ncclCommInitRank(Comm* comm, int ranks, UniqueId id, int rank) {
  stub_expect(stub_device() >= 0, "a communicator before a device");
  stub_expect(id.bytes[0] != 0 && id.bytes[127] == 0, "a communicator of no name");
  stub_expect(rank >= 0 && rank < ranks, "a rank outside of its communicator");
  *comm = new recorder::nccl::Communicator{id.bytes, ranks, rank};
  comms.insert(*comm);
  const char* const log = std::getenv("STUB_LOG");
  stub_expect(log != nullptr, "no STUB_LOG");
  const auto file_of = [&](int of) {
    return std::string(log) + "." + id.bytes + "." + std::to_string(of);
  };
  if (std::FILE* const own = std::fopen(file_of(rank).c_str(), "w")) std::fclose(own);
  for (int other = 0; other < ranks; ++other) {
    while (::access(file_of(other).c_str(), F_OK) != 0) ::usleep(200);
  }
  return 0;
}
int ncclCommDestroy(Comm comm) {
  stub_expect(comms.erase(comm) == 1, "a communicator ended twice");
  delete comm;
  return 0;
}
int ncclGroupStart() {
  ++depth;
  return 0;
}
int ncclGroupEnd() {
  stub_expect(depth-- > 0, "a group that did not begin");
  return 0;
}
int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int reduction, Comm comm,
                  Stream* stream) {
  stub_expect(reduction == 0 || reduction == 2, "neither a sum nor a largest");
  run("all_reduce", from, count, to, count, type, -1, comm, stream);
  if (from != to) std::memcpy(to, from, count * width(type));
  return 0;
}
int ncclAllGather(const void* from, void* to, std::size_t count, int type, Comm comm,
                  Stream* stream) {
  const auto all = count * static_cast<std::size_t>(comm->ranks);
  run("all_gather", from, count, to, all, type, -1, comm, stream);
  return 0;
}
int ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int reduction,
                      Comm comm, Stream* stream) {
  stub_expect(reduction == 0, "no sum");
  const auto all = count * static_cast<std::size_t>(comm->ranks);
  run("reduce_scatter", from, all, to, count, type, -1, comm, stream);
  return 0;
}
int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, Comm comm,
                  Stream* stream) {
  run("broadcast", from, count, to, count, type, root, comm, stream);
  return 0;
}
int ncclReduce(const void* from, void* to, std::size_t count, int type, int reduction, int root,
               Comm comm, Stream* stream) {
  stub_expect(reduction == 0, "no sum");
  run("reduce", from, count, to, count, type, root, comm, stream);
  return 0;
}
int ncclSend(const void* from, std::size_t count, int type, int peer, Comm comm, Stream* stream) {
  stub_expect(peer >= 0 && peer < comm->ranks, "a peer that is not there");
  stub_expect(depth > 0 || peer != comm->own, "a message to itself");
  run(depth > 0 ? "grouped_send" : "send", from, count, nullptr, 0, type, peer, comm, stream);
  return 0;
}
int ncclRecv(void* to, std::size_t count, int type, int peer, Comm comm, Stream* stream) {
  stub_expect(peer >= 0 && peer < comm->ranks, "a peer that is not there");
  stub_expect(depth > 0 || peer != comm->own, "a message from itself");
  run(depth > 0 ? "grouped_receive" : "receive", nullptr, 0, to, count, type, peer, comm, stream);
  return 0;
}

}  // extern "C"
}  // namespace headway::replay::nccl

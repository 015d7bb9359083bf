// A libnccl.so.2 that does nothing at all: what a call through the recorder takes beyond that is
// the recorder's.
#include "declared_for_test.hpp"

extern "C" {
namespace headway::recorder::nccl {

struct Communicator {
  int size;
};

Result ncclGetVersion(int* version) {
  *version = 23007;
  return kSuccess;
}
Result ncclCommInitRank(Comm* comm, int ranks, UniqueId, int) {
  *comm = new Communicator{ranks};
  return kSuccess;
}
Result ncclCommCount(Comm comm, int* ranks) {
  *ranks = comm->size;
  return kSuccess;
}
Result ncclCommUserRank(Comm, int* rank) {
  *rank = 0;
  return kSuccess;
}
Result ncclAllReduce(const void*, void*, std::size_t, DataType, Reduction, Comm, Stream*) {
  return kSuccess;
}
Result ncclSend(const void*, std::size_t, DataType, int, Comm, Stream*) {
  return kSuccess;
}
Result ncclRecv(void*, std::size_t, DataType, int, Comm, Stream*) {
  return kSuccess;
}
Result ncclGroupStart() {
  return kSuccess;
}
Result ncclGroupEnd() {
  return kSuccess;
}

}  // namespace headway::recorder::nccl
}

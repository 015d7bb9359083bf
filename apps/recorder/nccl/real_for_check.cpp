// Run by scripts/check-nccl before NVIDIA's own libnccl.so.2, with and without the recorder: what
// can be called without a GPU gives the same.
#include <dlfcn.h>

#include <cstdio>

#include "stub/declared_for_test.hpp"

using namespace headway::recorder::nccl;

int main() {
  int version = 0, ranks = 0;
  const Result asked = ncclGetVersion(&version);
  std::printf("version: %d %d\n", asked, version);
  std::printf("all-reduce on none: %d\n",
              ncclAllReduce(nullptr, nullptr, 1, 7, 0, nullptr, nullptr));
  std::printf("send on none: %d\n", ncclSend(nullptr, 1, 7, 0, nullptr, nullptr));
  std::printf("split of none: %d\n", ncclCommSplit(nullptr, 0, 0, nullptr, nullptr));
  std::printf("count of none: %d\n", ncclCommCount(nullptr, &ranks));
  std::printf("destroy none: %d\n", ncclCommDestroy(nullptr));
  std::printf("group: %d", ncclGroupStart());
  std::printf(" %d\n", ncclGroupEnd());
  UniqueId id;
  std::printf("id: %d\n", ncclGetUniqueId(&id));
  Dl_info where{};
  ::dladdr(reinterpret_cast<void*>(&ncclGetVersion), &where);
  std::fprintf(stderr, "%s\n", where.dli_fname);
  return ranks;
}

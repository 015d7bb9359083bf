// What a call of NCCL costs: run bare, and under `headway record`; the difference is the recorder,
// without what it asks of CUDA's driver, for none is there: whether the stream is captured, and two
// events (1 to 2 us).
//
//   recorder_bench_nccl; headway record -o DIR -- recorder_bench_nccl
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "stub/declared_for_test.hpp"

using namespace headway::recorder::nccl;

namespace {

double now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::nanoseconds(time).count());
}

// The median of 101 rounds of about 1,000 calls, short enough to run without a break.
template <class Call>
void measure(const char* name, int calls, Call call) {
  constexpr int kRounds = 101;
  const int times = 1000 / calls;
  std::vector<double> each;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now();
    for (int i = 0; i < times; ++i) call();
    each.push_back((now() - start) / times / calls);
  }
  std::nth_element(each.begin(), each.begin() + kRounds / 2, each.end());
  std::printf("%-52s %7.1f ns a call\n", name, each[kRounds / 2]);
}

}  // namespace

int main() {
  Comm one = nullptr, other = nullptr;
  UniqueId id{};
  ncclCommInitRank(&one, 8, id, 0);
  id.bytes[0] = 1;
  ncclCommInitRank(&other, 2, id, 0);
  measure("ncclAllReduce", 1, [&] { ncclAllReduce(nullptr, nullptr, 8, 7, 0, one, nullptr); });
  measure("ncclAllReduce on two communicators in turn", 2, [&] {
    ncclAllReduce(nullptr, nullptr, 8, 7, 0, one, nullptr);
    ncclAllReduce(nullptr, nullptr, 8, 7, 0, other, nullptr);
  });
  measure("ncclGroupStart, eight ncclSend and ncclRecv, ncclGroupEnd", 18, [&] {
    ncclGroupStart();
    for (int peer = 0; peer < 8; ++peer) {
      ncclSend(nullptr, 8, 7, peer, one, nullptr);
      ncclRecv(nullptr, 8, 7, peer, one, nullptr);
    }
    ncclGroupEnd();
  });
  return 0;
}

// A rank of a program of NCCL on a real device, run by scripts/check-gpu with and without the
// recorder: it says what its results are, how long its own events found each call to take, and how
// long the host took to ask for one.
//
//   device_for_check RANK RANKS DEVICE FILE     FILE: where rank 0 leaves the communicator's number
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kWarm = 2, kCalls = 12, kCaptured = 8, kReplays = 5;
constexpr std::size_t kLargest = std::size_t{16} << 20;  // bytes of a buffer

template <typename Result>
void must(Result result, const char* what, Result fine = {}) {
  if (result == fine) return;
  std::fprintf(stderr, "%s: %d\n", what, static_cast<int>(result));
  std::exit(3);
}
#define MUST(call) must(call, #call)

struct Rank {
  int rank, ranks;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  char *in = nullptr, *out = nullptr;
};

ncclUniqueId number_of(int rank, const std::string& file) {
  ncclUniqueId id{};
  if (rank == 0) {
    MUST(ncclGetUniqueId(&id));
    std::ofstream(file + ".half", std::ios::binary).write(id.internal, sizeof id.internal);
    std::filesystem::rename(file + ".half", file);
    return id;
  }
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  std::ifstream(file, std::ios::binary).read(id.internal, sizeof id.internal);
  return id;
}

void fill(const Rank& own) {
  std::vector<std::int32_t> values(kLargest / 4);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int32_t>(i * 7 + static_cast<std::size_t>(own.rank) * 13);
  }
  MUST(cudaMemcpy(own.in, values.data(), kLargest, cudaMemcpyHostToDevice));
  MUST(cudaMemset(own.out, 0, kLargest));
}

std::uint64_t sum_of(const Rank& own) {
  std::vector<std::uint32_t> values(kLargest / 4);
  MUST(cudaMemcpy(values.data(), own.out, kLargest, cudaMemcpyDeviceToHost));
  std::uint64_t sum = 0;
  for (const std::uint32_t value : values) sum = sum * 1'000'003 + value;
  return sum;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

using Call = std::function<void(std::size_t bytes)>;  // of the whole tensor

// What the recorder's records must say: the operation, its bytes, how often, microseconds of each
// but the first.
void time_calls(const Rank& own, const char* op, std::size_t bytes, const Call& call) {
  fill(own);
  std::vector<cudaEvent_t> events(2 * kCalls);
  for (cudaEvent_t& event : events) MUST(cudaEventCreate(&event));
  for (int i = 0; i < kWarm; ++i) call(bytes);
  for (int i = 0; i < kCalls; ++i) {
    MUST(cudaEventRecord(events[2 * i], own.stream));
    call(bytes);
    MUST(cudaEventRecord(events[2 * i + 1], own.stream));
  }
  MUST(cudaStreamSynchronize(own.stream));
  std::printf("call %s %zu %d", op, bytes, kWarm + kCalls);
  for (int i = 0; i < kCalls; ++i) {
    float milliseconds = 0;
    MUST(cudaEventElapsedTime(&milliseconds, events[2 * i], events[2 * i + 1]));
    std::printf(" %.2f", 1e3 * milliseconds);
  }
  std::printf("\n");
  for (cudaEvent_t event : events) MUST(cudaEventDestroy(event));
  std::printf("result %s %zu %llu\n", op, bytes, static_cast<unsigned long long>(sum_of(own)));
}

void all_operations(const Rank& own, std::size_t bytes) {
  const auto ranks = static_cast<std::size_t>(own.ranks);
  const int next = (own.rank + 1) % own.ranks, before = (own.rank + own.ranks - 1) % own.ranks;
  time_calls(own, "all_reduce", bytes, [&](std::size_t all) {
    MUST(ncclAllReduce(own.in, own.out, all / 4, ncclInt32, ncclSum, own.comm, own.stream));
  });
  time_calls(own, "all_gather", bytes, [&](std::size_t all) {
    MUST(ncclAllGather(own.in, own.out, all / 4 / ranks, ncclInt32, own.comm, own.stream));
  });
  time_calls(own, "reduce_scatter", bytes, [&](std::size_t all) {
    MUST(ncclReduceScatter(own.in, own.out, all / 4 / ranks, ncclInt32, ncclSum, own.comm,
                           own.stream));
  });
  time_calls(own, "broadcast", bytes, [&](std::size_t all) {
    MUST(ncclBroadcast(own.in, own.out, all / 4, ncclInt32, 0, own.comm, own.stream));
  });
  if (own.ranks == 1) return;
  time_calls(own, "send", bytes, [&](std::size_t all) {  // and as many that receive
    MUST(ncclGroupStart());
    MUST(ncclSend(own.in, all / 4, ncclInt32, next, own.comm, own.stream));
    MUST(ncclRecv(own.out, all / 4, ncclInt32, before, own.comm, own.stream));
    MUST(ncclGroupEnd());
  });
}

// Calls that are put into a graph, which runs several times.
void capture(const Rank& own, std::size_t bytes) {
  fill(own);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t runs = nullptr;
  MUST(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kCaptured; ++i) {
    MUST(ncclAllReduce(own.in, own.out, bytes / 4, ncclInt32, ncclSum, own.comm, own.stream));
  }
  MUST(cudaStreamEndCapture(own.stream, &graph));
  MUST(cudaGraphInstantiate(&runs, graph, 0));
  for (int i = 0; i < kReplays; ++i) MUST(cudaGraphLaunch(runs, own.stream));
  MUST(cudaStreamSynchronize(own.stream));
  MUST(cudaGraphExecDestroy(runs));
  MUST(cudaGraphDestroy(graph));
  std::printf("captured all_reduce %zu %d\n", bytes, kCaptured);
  std::printf("result graph %zu %llu\n", bytes, static_cast<unsigned long long>(sum_of(own)));
}

// What the host takes for a call by a rank alone, which sends nothing: ns, of batches that the
// device has room for.
void time_host() {
  ncclUniqueId id{};
  ncclComm_t alone = nullptr;
  cudaStream_t stream = nullptr;
  char *in = nullptr, *out = nullptr;
  MUST(ncclGetUniqueId(&id));
  MUST(ncclCommInitRank(&alone, 1, id, 0));
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaMalloc(&in, 4096));
  MUST(cudaMalloc(&out, 4096));
  constexpr int kBatches = 60, kBatch = 100;
  std::vector<double> ns;
  for (int b = 0; b < kBatches; ++b) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kBatch; ++i) {
      MUST(ncclAllReduce(in, out, 4, ncclInt32, ncclSum, alone, stream));
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    MUST(cudaStreamSynchronize(stream));
    ns.push_back(took.count() / kBatch);
  }
  std::printf("host %.0f %d\n", median(ns), kBatches * kBatch);
  MUST(ncclCommDestroy(alone));
  MUST(cudaFree(in));
  MUST(cudaFree(out));
  MUST(cudaStreamDestroy(stream));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  Rank own{std::atoi(argv[1]), std::atoi(argv[2])};
  MUST(cudaSetDevice(std::atoi(argv[3])));
  int version = 0;
  MUST(ncclGetVersion(&version));
  std::printf("nccl %d\n", version);
  MUST(ncclCommInitRank(&own.comm, own.ranks, number_of(own.rank, argv[4]), own.rank));
  MUST(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking));
  MUST(cudaMalloc(&own.in, kLargest));
  MUST(cudaMalloc(&own.out, kLargest));
  for (std::size_t bytes = 1024; bytes <= kLargest; bytes *= 128) all_operations(own, bytes);
  capture(own, 1 << 18);
  ncclComm_t part = nullptr;
  MUST(ncclCommSplit(own.comm, own.rank % 2, own.rank, &part, nullptr));
  MUST(ncclAllReduce(own.in, own.out, 16, ncclInt32, ncclSum, part, own.stream));
  MUST(cudaStreamSynchronize(own.stream));
  std::printf("result part 64 %llu\n", static_cast<unsigned long long>(sum_of(own)));
  MUST(ncclCommDestroy(part));
  MUST(ncclCommDestroy(own.comm));
  time_host();
  return 0;
}

// Reading speed of Kineto traces, on a trace that is generated while it is read: no file, and no
// more memory than the reader's own.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "trace/readers/readers.hpp"

namespace headway {
namespace {

std::string event(const std::string& head, const std::string& args) {
  return "  {\n    \"ph\": \"X\", " + head +
         "\n    \"ts\": 4458676522690.655, \"dur\": 156.777,\n    \"args\": {\n      " + args +
         "\n    }\n  },\n";
}

// The mix of the public A100 trace: of 100 events 35 host operations, 21 runtime calls, 31 arrows,
// 6 kernels and a few copies; one kernel in 130 communicates.
std::string block_of_events() {
  const std::string host = "\"pid\": 2910249, \"tid\": 2919752,";
  const std::string kernel =
      "\"External id\": 12945, \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, "
      "\"correlation\": 60047,\n      \"registers per thread\": 96,\n      \"shared memory\": "
      "87568,\n"
      "      \"blocks per SM\": 0.074074,\n      \"warps per SM\": 1.259259,\n      \"grid\": [8, "
      "1, "
      "1],\n      \"block\": [544, 1, 1],\n      \"est. achieved occupancy %\": 0";
  const std::string comms =
      kernel +
      ",\n      \"Collective name\": \"allreduce\", \"In msg nelems\": 6637568, \"Out msg "
      "nelems\": "
      "6637568, \"Group size\": 2, \"dtype\": \"Float\",\n      \"Process Group Name\": \"0\", "
      "\"Process Group Ranks\": \"[0, 1]\"";
  std::string text;
  for (int i = 0; i < 1300; ++i) {
    const int kind = i % 100;
    if (kind < 35) {
      text += event(
          "\"cat\": \"cpu_op\", \"name\": \"autograd::engine::evaluate_function: "
          "ConvolutionBackward0\", " +
              host,
          "\"External id\": 2049,\"Record function id\": 1909, \"Sequence number\": 1080, "
          "\"Fwd thread id\": 1, \"Ev Idx\": 0");
    } else if (kind < 56) {
      text += event("\"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", " + host,
                    "\"External id\": 2049, \"cbid\": 211, \"correlation\": 60047");
    } else if (kind < 87) {
      text += "  {\n    \"ph\": \"f\", \"id\": 1, " + host +
              " \"ts\": 4458676522709.059,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": "
              "\"e\"\n  },\n";
    } else if (kind < 93) {
      const bool communicates = i == 90 || i == 690;
      text += event(std::string("\"cat\": \"kernel\", \"name\": \"") +
                        (communicates ? "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)"
                                      : "void at::native::vectorized_elementwise_kernel<4, "
                                        "at::native::AddFunctor<float>, at::detail::Array<char*, "
                                        "3> >(int)") +
                        "\", \"pid\": 0, \"tid\": 7,",
                    communicates ? comms : kernel);
    } else {
      text += event("\"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD\", \"pid\": 0, \"tid\": 7,",
                    "\"External id\": 8, \"device\": 2, \"stream\": 7, \"correlation\": 117, "
                    "\"bytes\": 4096");
    }
  }
  return text;
}

// The beginning, the block again and again, and the end; `most` bytes or a little more.
class GeneratedTrace : public ByteSource {
 public:
  GeneratedTrace(const std::string& block, std::size_t most) : block_(block), most_(most) {}
  std::size_t read(char* to, std::size_t most) override {
    std::size_t got = 0;
    while (got < most) {
      if (at_ == piece_.size()) {
        if (ended_) break;
        ended_ = written_ >= most_;
        piece_ = ended_ ? "  {\"ph\": \"i\", \"name\": \"end\", \"ts\": 1}]}" : block_;
        if (written_ == 0) piece_ = "{\"schemaVersion\": 1, \"traceEvents\": [\n" + block_;
        at_ = 0;
      }
      const std::size_t part = std::min(most - got, piece_.size() - at_);
      std::memcpy(to + got, piece_.data() + at_, part);
      got += part;
      at_ += part;
      written_ += part;
    }
    return got;
  }
  std::size_t written() const { return written_; }

 private:
  const std::string& block_;
  std::size_t most_, written_ = 0, at_ = 0;
  std::string piece_;
  bool ended_ = false;
};

void kineto(benchmark::State& state) {
  const std::string block = block_of_events();
  std::int64_t bytes = 0;
  for (auto _ : state) {
    GeneratedTrace source(block, static_cast<std::size_t>(state.range(0)) << 20);
    Recording recording;
    recording.source = "generated";
    read_kineto(source, recording);
    benchmark::DoNotOptimize(recording.records_read);
    bytes += static_cast<std::int64_t>(source.written());
    state.counters["events"] = static_cast<double>(recording.records_read);
    state.counters["calls"] = static_cast<double>(recording.calls.size());
  }
  state.SetBytesProcessed(bytes);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(kineto)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway

#include <benchmark/benchmark.h>

#include "cost/calibration/calibration.hpp"
#include "cost/kernels/kernels.hpp"

namespace headway {
namespace {

Accelerator a100() {
  Accelerator a;
  a.name = "a100";
  a.architecture = "ampere";
  a.peak.fill(FlopsPerSecond(312e12));
  a.memory_bandwidth = BytesPerSecond(2.039e12);
  a.compute_units = 108;
  return a;
}

void matmul(benchmark::State& state) {
  const Accelerator a = a100();
  const KernelParameters p;
  Matmul shape{2048, 12288, 6144};
  for (auto _ : state) {
    shape.m = shape.m == 2048 ? 4096 : 2048;
    benchmark::DoNotOptimize(shape);
    benchmark::DoNotOptimize(matmul_time(shape, Precision::bf16, a, p));
  }
}
BENCHMARK(matmul);

void attention(benchmark::State& state) {
  const Accelerator a = a100();
  const KernelParameters p;
  const auto kernel = static_cast<AttentionKernel>(state.range(0));
  AttentionShape shape{1, 16, 16, 4096, 4096, 128, 128};
  for (auto _ : state) {
    benchmark::DoNotOptimize(shape);
    benchmark::DoNotOptimize(attention_forward_time(shape, kernel, Precision::bf16, a, p));
    benchmark::DoNotOptimize(attention_backward_time(shape, kernel, Precision::bf16, a, p));
  }
}
BENCHMARK(attention)->Arg(0)->Arg(2);

void pass(benchmark::State& state) {
  const Accelerator a = a100();
  const KernelParameters p;
  Bytes moved(1e8);
  for (auto _ : state) {
    benchmark::DoNotOptimize(moved);
    benchmark::DoNotOptimize(pass_time(moved, a, p));
  }
}
BENCHMARK(pass);

void look_up_parameters(benchmark::State& state) {
  const Accelerator a = a100();
  for (auto _ : state) benchmark::DoNotOptimize(kernel_parameters_for(a));
}
BENCHMARK(look_up_parameters)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headway

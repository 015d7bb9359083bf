// A stand-in for cuBLAS (libcublas.so.12): it checks what it is given; a product takes 10 us.
#include "stub_for_test.hpp"

namespace headway::replay::nccl {

struct Blas {
  Stream* stream = nullptr;
};

extern "C" {

int cublasCreate_v2(Blas** handle) {
  *handle = new Blas;
  return 0;
}
int cublasDestroy_v2(Blas* handle) {
  delete handle;
  return 0;
}
int cublasSetStream_v2(Blas* handle, Stream* stream) {
  stub_expect_stream(stream);
  handle->stream = stream;
  return 0;
}
// Columns: of a m rows, of b k rows, of c m rows.
int cublasGemmEx(Blas* handle, int of_a, int of_b, int m, int n, int k, const void* alpha,
                 const void* a, int type_of_a, int lead_of_a, const void* b, int type_of_b,
                 int lead_of_b, const void* beta, void* c, int type_of_c, int lead_of_c,
                 int compute, int algorithm) {
  constexpr int kBf16 = 14, kInFp32 = 68;
  stub_expect(of_a == 0 && of_b == 0 && algorithm == -1 && compute == kInFp32, "another product");
  stub_expect(type_of_a == kBf16 && type_of_b == kBf16 && type_of_c == kBf16, "not of bf16");
  stub_expect(lead_of_a >= m && lead_of_b >= k && lead_of_c >= m, "columns that overlap");
  stub_expect(*static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0,
              "another sum");
  const auto bytes = [](int rows, int columns) {
    return 2 * static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  stub_expect_memory(a, bytes(m, k));
  stub_expect_memory(b, bytes(k, n));
  stub_expect_memory(c, bytes(m, n));
  handle->stream->ns += 10'000;
  stub_log("- product %d %d %d\n", n, m, k);
  return 0;
}

}  // extern "C"
}  // namespace headway::replay::nccl

// What the stand-ins of CUDA's runtime and NCCL share. Time is virtual: a stream is as far as what
// was put into it, an event as far as its stream was.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::recorder::nccl {
struct Stream {
  int number;
  std::uint64_t ns = 0;
};
}  // namespace headway::recorder::nccl

namespace headway::replay::nccl {

using recorder::nccl::Stream;

/// Ends the program, exit code 9, and says why.
void stub_expect(bool holds, const char* what);
/// A line into the log of this rank: STUB_LOG.RANK.
void stub_log(const char* format, ...) __attribute__((format(printf, 1, 2)));
/// That a stream or so much memory was made and not ended, and what was to be in it is.
void stub_expect_stream(Stream* stream);
void stub_expect_memory(const void* at, std::size_t bytes);
int stub_device();  // in use; -1: none

}  // namespace headway::replay::nccl

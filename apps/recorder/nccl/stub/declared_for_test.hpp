// NCCL as programs of the tests call it, and what the stand-ins for NCCL and CUDA are told beside
// it.
#pragma once

#include <cstdint>

#include "../abi.hpp"

extern "C" {
namespace headway::recorder::nccl {
#define FUNCTION(function, ...) Result function(__VA_ARGS__);
#define COLLECTIVE(function, op, bytes, root, arguments, ...) FUNCTION(function, __VA_ARGS__)
#define CONFIGURED(function, op, bytes, root, arguments, ...) \
  FUNCTION(function, __VA_ARGS__)                             \
  FUNCTION(function##Config, __VA_ARGS__, const void* config)
#define MESSAGE(function, op, arguments, ...) FUNCTION(function, __VA_ARGS__)
#define UNSIZED(function, op, peer, arguments, ...) FUNCTION(function, __VA_ARGS__)
#include "../calls.def"
#include "../own.def"
#undef FUNCTION
Result ncclGetVersion(int* version);
Result ncclCommCount(Comm comm, int* ranks);
Result ncclCommUserRank(Comm comm, int* rank);
Result ncclCommCuDevice(Comm comm, int* device);

/// The colour of every rank in a split, whose key is the rank.
extern int (*stub_color_of)(int rank);

/// A stream of the device's context; the device in use by the thread.
Stream* stub_stream(int device);
void stub_use_device(int device);
int stub_device();
/// What is put into the stream goes into a graph.
void stub_capture(Stream* stream, bool on);
/// From now on it is an error to ask whether the stream is captured, as of the default one while
/// another is; or how many ranks the communicator has, as while it is being made.
void stub_hush_stream(Stream* stream);
void stub_hush_comm(Comm comm);
/// Puts work of so long into the stream; when it begins, in ns of the host's clock.
std::uint64_t stub_work(Stream* stream, std::uint64_t ns);
int stub_number_of(Stream* stream);
/// Until the device has done all: the program's own waiting.
void stub_wait(Stream* stream);
/// Calls that wait for the device, and those that may not be made while a stream captures.
int stub_waits();
int stub_violations();
/// Events that were recorded.
int stub_events();
}  // namespace headway::recorder::nccl
}

// A stand-in for CUDA's runtime (libcudart.so.12): it checks what it is given.
#include <time.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "stub_for_test.hpp"

namespace headway::replay::nccl {

struct Event {
  bool recorded = false;
  std::uint64_t ns = 0;
};

namespace {

std::map<const char*, std::size_t> memory;
std::set<Stream*> streams;
std::set<Event*> events;
int device = -1, made = 0;
bool filling = false;  // memory, beside streams that do not block, from a call that has returned

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void expect_there(const void* at, std::size_t bytes) {
  const auto* const begin = static_cast<const char*>(at);
  auto after = memory.upper_bound(begin);
  stub_expect(after != memory.begin(), "memory that is not there");
  --after;
  stub_expect(begin + bytes <= after->first + after->second, "more memory than there is");
}

}  // namespace

void stub_expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "stub: %s\n", what);
  std::_Exit(9);
}

void stub_log(const char* format, ...) {
  static std::FILE* const file = [] {
    const char *path = std::getenv("STUB_LOG"), *rank = std::getenv("RANK");
    return path == nullptr || rank == nullptr
               ? nullptr
               : std::fopen((std::string(path) + "." + rank).c_str(), "w");
  }();
  if (file == nullptr) return;
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(file, format, arguments);
  va_end(arguments);
}

void stub_expect_stream(Stream* stream) {
  stub_expect(streams.contains(stream), "a stream that is not there");
}

void stub_expect_memory(const void* at, std::size_t bytes) {
  expect_there(at, bytes);
  stub_expect(!filling, "memory that may not be filled yet");
}

int stub_device() {
  return device;
}

extern "C" {

int cudaGetDeviceCount(int* devices) {
  const char* said = std::getenv("STUB_DEVICES");
  *devices = said == nullptr ? 8 : std::atoi(said);
  return 0;
}
int cudaSetDevice(int number) {
  device = number;
  return 0;
}
int cudaMalloc(void** out, std::size_t bytes) {
  stub_expect(device >= 0, "memory before a device");
  *out = std::malloc(bytes);
  memory[static_cast<const char*>(*out)] = bytes;
  return 0;
}
int cudaMemset(void* at, int value, std::size_t bytes) {
  expect_there(at, bytes);
  std::memset(at, value, bytes);
  filling = true;
  return 0;
}
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  stub_expect(kind == 1 || kind == 2, "a copy to nowhere");
  expect_there(kind == 1 ? to : from, bytes);
  std::memcpy(to, from, bytes);
  filling = kind == 1;
  return 0;
}
int cudaFree(void* at) {
  if (at == nullptr) return 0;
  stub_expect(memory.erase(static_cast<const char*>(at)) == 1, "memory freed twice");
  std::free(at);
  return 0;
}
int cudaStreamCreateWithFlags(Stream** out, unsigned flags) {
  stub_expect(device >= 0 && flags == 1, "a stream that waits for all others");
  *out = new Stream{++made};
  streams.insert(*out);
  return 0;
}
int cudaStreamDestroy(Stream* stream) {
  stub_expect(streams.erase(stream) == 1, "a stream ended twice");
  delete stream;
  return 0;
}
int cudaStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
  stub_expect_stream(stream);
  stub_expect(events.contains(event) && event->recorded && flags == 0,
              "waiting for an event that was not recorded");
  stream->ns = std::max(stream->ns, event->ns);
  return 0;
}
int cudaStreamSynchronize(Stream* stream) {
  stub_expect_stream(stream);
  return 0;
}
int cudaEventCreateWithFlags(Event** out, unsigned flags) {
  stub_expect(flags == 0, "an event without a time");
  *out = new Event;
  events.insert(*out);
  return 0;
}
int cudaEventDestroy(Event* event) {
  stub_expect(events.erase(event) == 1, "an event ended twice");
  delete event;
  return 0;
}
int cudaEventRecord(Event* event, Stream* stream) {
  stub_expect_stream(stream);
  stub_expect(events.contains(event), "an event that is not there");
  event->recorded = true;
  event->ns = stream->ns;
  return 0;
}
int cudaEventElapsedTime(float* milliseconds, Event* first, Event* last) {
  stub_expect(events.contains(first) && events.contains(last) && first->recorded && last->recorded,
              "the time of an event that was not recorded");
  *milliseconds = static_cast<float>(
      static_cast<double>(static_cast<std::int64_t>(last->ns - first->ns)) * 1e-6);
  return 0;
}
int cudaLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
  stub_expect_stream(stream);
  const std::uint64_t begin = now();
  function(data);
  stream->ns += now() - begin;
  return 0;
}
int cudaDeviceSynchronize() {
  filling = false;
  return 0;
}

}  // extern "C"
}  // namespace headway::replay::nccl

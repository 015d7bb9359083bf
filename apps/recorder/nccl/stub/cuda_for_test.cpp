// A stand-in for CUDA's driver (libcuda.so.1), and for HIP (libamdhip64.so.6, AS_HIP): streams that
// are busy for as long as they are told, and events that pass when they are done. It counts what
// waits for the device, and what may not be asked for while a stream captures.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include "declared_for_test.hpp"

namespace headway::recorder::nccl {

struct Stream {
  int number = 0;
  std::intptr_t context = 0;
  std::uint64_t busy_until = 0;
  bool capturing = false;
  bool answers = true;  // whether it is captured
};

}  // namespace headway::recorder::nccl

namespace {

using headway::recorder::nccl::Stream;

struct Event {
  std::uint64_t passes = 0;
  std::intptr_t context = 0;
};

constexpr int kNotReady = 600, kInvalidContext = 201, kCaptureUnsafe = 900, kCaptureImplicit = 906;

std::mutex lock;
std::atomic<int> waits{0}, violations{0}, events{0}, capturing{0}, streams{0};
thread_local std::intptr_t in_use = 0;  // 0: no context
thread_local int mode = 0;              // global

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// What another thread may not do while a stream captures in the global mode.
int unsafe() {
  if (capturing == 0 || mode == 2) return 0;
  ++violations;
  return kCaptureUnsafe;
}

int waited() {
  ++waits;
  std::fprintf(stderr, "the recorder waits for the device\n");
  return 999;
}

}  // namespace

// One function under the name of either.
#ifdef AS_HIP
#define API(name) NAME_##name
#define NAME_cuEventCreate hipEventCreateWithFlags
#define NAME_cuEventRecord hipEventRecord
#define NAME_cuEventQuery hipEventQuery
#define NAME_cuEventElapsedTime hipEventElapsedTime
#define NAME_cuStreamIsCapturing hipStreamIsCapturing
#define NAME_cuStreamCreate hipStreamCreateWithFlags
#define NAME_cuThreadExchangeStreamCaptureMode hipThreadExchangeStreamCaptureMode
#else
#define API(name) name
#endif

extern "C" {

int API(cuEventCreate)(Event** event, unsigned flags) {
  if (in_use == 0) return kInvalidContext;
  if (flags != 0) return 1;  // without times it would be of no use
  *event = new Event{0, in_use};
  return 0;
}

int API(cuEventRecord)(Event* event, Stream* stream) {
  const std::lock_guard<std::mutex> guard(lock);
  if (stream->capturing) return ++violations, kCaptureUnsafe;
  if (event->context != stream->context) return ++violations, kInvalidContext;
  ++events;
  event->passes = std::max(now(), stream->busy_until);
  return 0;
}

int API(cuEventQuery)(Event* event) {
  if (const int error = unsafe()) return error;
  if (in_use == 0) return kInvalidContext;
  const std::lock_guard<std::mutex> guard(lock);
  return now() >= event->passes ? 0 : kNotReady;
}

int API(cuEventElapsedTime)(float* milliseconds, Event* first, Event* last) {
  if (in_use == 0) return kInvalidContext;
  const std::lock_guard<std::mutex> guard(lock);
  if (now() < last->passes) return kNotReady;
  *milliseconds = static_cast<float>(
      static_cast<double>(static_cast<std::int64_t>(last->passes - first->passes)) * 1e-6);
  return 0;
}

int API(cuStreamIsCapturing)(Stream* stream, int* status) {
  if (!stream->answers) return kCaptureImplicit;
  *status = stream->capturing ? 1 : 0;
  return 0;
}

int API(cuStreamCreate)(Stream** stream, unsigned flags) {
  if (const int error = unsafe()) return error;
  if (in_use == 0 || flags != 1) return kInvalidContext;
  *stream = new Stream{0, in_use};
  return 0;
}

int API(cuThreadExchangeStreamCaptureMode)(int* other) {
  std::swap(mode, *other);
  return 0;
}

#ifdef AS_HIP
int hipGetDevice(int* device) {
  *device = static_cast<int>(in_use) - 1;
  return in_use == 0 ? kInvalidContext : 0;
}

int hipSetDevice(int device) {
  in_use = device + 1;
  return 0;
}

int hipStreamGetDevice(Stream* stream, int* device) {
  *device = static_cast<int>(stream->context) - 1;
  return 0;
}

int hipDeviceSynchronize() {
  return waited();
}
int hipStreamSynchronize(Stream*) {
  return waited();
}
int hipEventSynchronize(Event*) {
  return waited();
}
#else
int cuCtxGetCurrent(std::intptr_t* context) {
  *context = in_use;
  return 0;
}

int cuCtxSetCurrent(std::intptr_t context) {
  in_use = context;
  return 0;
}

int cuStreamGetCtx(Stream* stream, std::intptr_t* context) {
  *context = stream->context;
  return 0;
}

int cuCtxGetDevice(int* device) {
  if (in_use == 0) return kInvalidContext;
  *device = static_cast<int>(in_use) - 1;
  return 0;
}

int cuCtxSynchronize() {
  return waited();
}
int cuStreamSynchronize(Stream*) {
  return waited();
}
int cuEventSynchronize(Event*) {
  return waited();
}
#endif

namespace headway::recorder::nccl {

Stream* stub_stream(int device) {
  return new Stream{++streams, device + 1};
}
void stub_use_device(int device) {
  in_use = device + 1;
}
int stub_device() {
  return static_cast<int>(in_use) - 1;
}
void stub_capture(Stream* stream, bool on) {
  const std::lock_guard<std::mutex> guard(lock);
  capturing += static_cast<int>(on) - static_cast<int>(stream->capturing);
  stream->capturing = on;
}
void stub_hush_stream(Stream* stream) {
  stream->answers = false;
}
std::uint64_t stub_work(Stream* stream, std::uint64_t ns) {
  const std::lock_guard<std::mutex> guard(lock);
  if (stream->capturing) return 0;
  const std::uint64_t begin = std::max(now(), stream->busy_until);
  stream->busy_until = begin + ns;
  return begin;
}
int stub_number_of(Stream* stream) {
  return stream == nullptr ? 0 : stream->number;
}
void stub_wait(Stream* stream) {
  while (now() < stream->busy_until) {
    const timespec little{0, 100'000};
    ::nanosleep(&little, nullptr);
  }
}
int stub_waits() {
  return waits;
}
int stub_violations() {
  return violations;
}
int stub_events() {
  return events;
}

}  // namespace headway::recorder::nccl
}

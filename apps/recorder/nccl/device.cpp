#include "device.hpp"

#include <dlfcn.h>

#include <cstdint>

#include "loaded.hpp"

namespace headway::recorder::nccl {
namespace {

Device found;
int (*hip_get_device)(int*) = nullptr;
int (*hip_set_device)(int) = nullptr;
int (*hip_stream_device)(Stream*, int*) = nullptr;

int get_hip_context(void** context) {
  int device = 0;
  const int error = hip_get_device(&device);
  *context = reinterpret_cast<void*>(static_cast<std::intptr_t>(device) + 1);
  return error;
}

int set_hip_context(void* context) {
  return hip_set_device(static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1);
}

// Of the default stream the device is the one in use.
int hip_stream_context(Stream* stream, void** context) {
  if (stream == nullptr || hip_stream_device == nullptr) return get_hip_context(context);
  int device = 0;
  const int error = hip_stream_device(stream, &device);
  *context = reinterpret_cast<void*>(static_cast<std::intptr_t>(device) + 1);
  return error;
}

template <class Function>
bool take(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

bool take_cuda(void* library) {
  return take(library, found.event_create, "cuEventCreate") &&
         take(library, found.event_record, "cuEventRecord") &&
         take(library, found.event_query, "cuEventQuery") &&
         take(library, found.event_elapsed, "cuEventElapsedTime") &&
         take(library, found.stream_capturing, "cuStreamIsCapturing") &&
         take(library, found.stream_create, "cuStreamCreate") &&
         take(library, found.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode") &&
         take(library, found.get_context, "cuCtxGetCurrent") &&
         take(library, found.set_context, "cuCtxSetCurrent") &&
         take(library, found.stream_context, "cuStreamGetCtx");
}

bool take_hip(void* library) {
  take(library, hip_stream_device, "hipStreamGetDevice");  // since ROCm 5.6
  found.get_context = get_hip_context;
  found.set_context = set_hip_context;
  found.stream_context = hip_stream_context;
  return take(library, found.event_create, "hipEventCreateWithFlags") &&
         take(library, found.event_record, "hipEventRecord") &&
         take(library, found.event_query, "hipEventQuery") &&
         take(library, found.event_elapsed, "hipEventElapsedTime") &&
         take(library, found.stream_capturing, "hipStreamIsCapturing") &&
         take(library, found.stream_create, "hipStreamCreateWithFlags") &&
         take(library, found.exchange_capture_mode, "hipThreadExchangeStreamCaptureMode") &&
         take(library, hip_get_device, "hipGetDevice") &&
         take(library, hip_set_device, "hipSetDevice");
}

}  // namespace

const Device* find_device(bool hip) {
  void* library = loaded_library_named(hip ? "libamdhip64.so" : "libcuda.so");
  if (library == nullptr) return nullptr;
  return (hip ? take_hip(library) : take_cuda(library)) ? &found : nullptr;
}

}  // namespace headway::recorder::nccl

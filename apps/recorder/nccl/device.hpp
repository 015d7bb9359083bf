// The few functions of CUDA's driver, or of HIP, by which the device's own times are taken. They
// are those of the library that the program has loaded; nothing is linked or loaded. The driver's
// are asked rather than those of the runtime (libcudart): the runtime is most often linked into
// programs as an archive, makes a context on the first device for a thread that has none, and keeps
// the last error for the program, which would see ours. No function here waits for a device.
#pragma once

namespace headway::recorder::nccl {

struct Stream;

struct Device {
  // All return 0 for success. Events and streams as void*: CUevent and CUstream are cudaEvent_t and
  // cudaStream_t.
  int (*event_create)(void** event, unsigned flags);
  int (*event_record)(void* event, Stream* stream);
  int (*event_query)(void* event);
  int (*event_elapsed)(float* milliseconds, void* first, void* last);
  int (*stream_capturing)(Stream* stream, int* status);
  int (*stream_create)(Stream** stream, unsigned flags);
  int (*exchange_capture_mode)(int* mode);

  // Where events are made: a context of CUDA, a device of HIP (counted from 1).
  int (*get_context)(void** context);
  int (*set_context)(void* context);
  int (*stream_context)(Stream* stream, void** context);
};

inline constexpr int kNotReady = 600;              // CUDA_ERROR_NOT_READY, hipErrorNotReady
inline constexpr int kCaptureModeRelaxed = 2;      // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr unsigned kStreamNonBlocking = 1;  // beside the default stream, not behind it

/// Null where the program has none of it, or not all.
const Device* find_device(bool hip);

}  // namespace headway::recorder::nccl

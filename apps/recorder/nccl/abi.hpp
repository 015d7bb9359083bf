// The part of NCCL's binary interface that its calls pass, declared by ourselves: nccl.h comes with
// NVIDIA's packages only. Facts: src/nccl.h.in of NCCL 2.30.7 and nccl.h of 2.32.3; RCCL's own
// functions: src/collectives/all_to_all.cc and all_to_allv.cc of ROCm/rccl. scripts/check-nccl
// compares all of it with the real header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::recorder::nccl {

using Result = int;  // ncclResult_t, and the other enumerations: of the size of an int
using DataType = int;
using Reduction = int;

inline constexpr Result kSuccess = 0, kInvalidUsage = 5, kInProgress = 7;

struct Communicator;  // ncclComm_t points to it
struct Stream;        // cudaStream_t, hipStream_t
struct Window;        // ncclWindow_t
using Comm = Communicator*;
struct UniqueId {  // ncclUniqueId, passed by value
  char bytes[128];
};
struct SignalDescription {  // ncclWaitSignalDesc_t
  int count, peer, signal, context;
};
static_assert(sizeof(UniqueId) == 128 && alignof(UniqueId) == 1);
static_assert(sizeof(SignalDescription) == 16 && offsetof(SignalDescription, peer) == 4 &&
              offsetof(SignalDescription, signal) == 8 &&
              offsetof(SignalDescription, context) == 12);

/// A version as ncclGetVersion says it: major, minor, patch as 22903; to 2.8 as 2708.
constexpr int version_code(int major, int minor, int patch) {
  return major <= 2 && minor <= 8 ? major * 1000 + minor * 100 + patch
                                  : major * 10000 + minor * 100 + patch;
}

/// The parts of such a code.
struct Version {
  int major = 0, minor = 0, patch = 0;
};
constexpr Version version_of(int code) {
  const int scale = code < 10'000 ? 1'000 : 10'000;
  return {code / scale, code % scale / 100, code % 100};
}

/// From when on the functions are as they stand here, and the last version whose header was read.
inline constexpr int kFirstKnown = version_code(2, 7, 0), kLastKnown = version_code(2, 32, 99);

/// ncclDataType_t as the number of the file (1 + ElementType) and its bytes.
struct Element {
  std::uint8_t number = 0;
  std::uint8_t bytes = 0;
};
constexpr Element element_of(DataType type) {
  // int8, uint8, int32, uint32, int64, uint64, fp16, fp32, fp64, bf16, fp8_e4m3, fp8_e5m2
  constexpr Element elements[] = {{1, 1}, {2, 1},  {4, 4},  {5, 4}, {6, 8},  {7, 8},
                                  {8, 2}, {10, 4}, {11, 8}, {9, 2}, {12, 1}, {13, 1}};
  return type >= 0 && type < 12 ? elements[type] : Element{};
}

}  // namespace headway::recorder::nccl

// Compiled by scripts/check-nccl with NVIDIA's own nccl.h: every function of the tables takes what
// the real one takes, by the rules of the binary interface; and the types are as large and numbered
// so.
#include <nccl.h>

#include <tuple>
#include <type_traits>

#include "abi.hpp"

namespace own = headway::recorder::nccl;

namespace {

// Two parameters are passed alike: both pointers, or whole numbers of one size, or one by value.
template <class Real, class Own>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<Real> || std::is_pointer_v<Own>) {
    return std::is_pointer_v<Real> && std::is_pointer_v<Own>;
  } else if constexpr (std::is_class_v<Real>) {
    return std::is_class_v<Own> && sizeof(Real) == sizeof(Own) && alignof(Real) == alignof(Own);
  } else {
    return !std::is_floating_point_v<Real> && sizeof(Real) == sizeof(Own);
  }
}

template <class Real, class Own>
struct Same : std::false_type {};
template <class A, class... As, class B, class... Bs>
requires(sizeof...(As) == sizeof...(Bs)) struct Same<A (*)(As...), B (*)(Bs...)>
    : std::bool_constant<(alike<A, B>() && ... && alike<As, Bs>())> {
};

using own::Comm;
using own::DataType;
using own::Reduction;
using own::SignalDescription;
using own::Stream;
using own::UniqueId;
using own::Window;

#define FUNCTION(function, ...) \
  static_assert(Same<decltype(&::function), int (*)(__VA_ARGS__)>::value, #function);
#define COLLECTIVE(function, op, bytes, root, arguments, ...) FUNCTION(function, __VA_ARGS__)
#define CONFIGURED(function, op, bytes, root, arguments, ...) \
  FUNCTION(function, __VA_ARGS__)                             \
  FUNCTION(function##Config, __VA_ARGS__, const void*)
#define MESSAGE(function, op, arguments, ...) FUNCTION(function, __VA_ARGS__)
#define UNSIZED(function, op, peer, arguments, ...) FUNCTION(function, __VA_ARGS__)
// RCCL's own functions are not NVIDIA's.
extern "C" int ncclAllToAll(const void*, void*, std::size_t, DataType, Comm, Stream*);
extern "C" int ncclAllToAllv(const void*, const std::size_t*, const std::size_t*, void*,
                             const std::size_t*, const std::size_t*, DataType, Comm, Stream*);
#include "calls.def"
#include "own.def"
// What a replay calls.
#define NCCL(function, ...) FUNCTION(function, __VA_ARGS__)
#define DEVICE(function, ...)
#define BLAS(function, ...)
#include "../../replay/nccl/functions.def"
static_assert(ncclSum == 0 && ncclMax == 2 && ncclUint8 == 1 && ncclFloat16 == 6 &&
              ncclFloat64 == 8);

static_assert(sizeof(ncclResult_t) == sizeof(own::Result) && ncclSuccess == own::kSuccess &&
              ncclInvalidUsage == own::kInvalidUsage && ncclInProgress == own::kInProgress);
static_assert(sizeof(ncclUniqueId) == sizeof(UniqueId));
static_assert(sizeof(ncclWaitSignalDesc_t) == sizeof(SignalDescription) &&
              offsetof(ncclWaitSignalDesc_t, peer) == offsetof(SignalDescription, peer));
static_assert(own::version_code(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH) == NCCL_VERSION_CODE);
static_assert(NCCL_VERSION_CODE <= own::kLastKnown, "a newer NCCL than kLastKnown of abi.hpp");
constexpr bool is(ncclDataType_t type, int number, int bytes) {
  return own::element_of(type).number == number && own::element_of(type).bytes == bytes;
}
static_assert(is(ncclInt8, 1, 1) && is(ncclUint8, 2, 1) && is(ncclInt32, 4, 4) &&
              is(ncclUint32, 5, 4) && is(ncclInt64, 6, 8) && is(ncclUint64, 7, 8) &&
              is(ncclFloat16, 8, 2) && is(ncclBfloat16, 9, 2) && is(ncclFloat32, 10, 4) &&
              is(ncclFloat64, 11, 8) && is(ncclFloat8e4m3, 12, 1) && is(ncclFloat8e5m2, 13, 1) &&
              ncclNumTypes == 12);

}  // namespace

// NCCL and CUDA, or RCCL and HIP, found where they are when the program runs: nothing is linked.
#pragma once

#include <cstddef>
#include <string>

#include "../../recorder/nccl/abi.hpp"
#include "base/result.hpp"

namespace headway::replay::nccl {

using recorder::nccl::Comm;
using recorder::nccl::DataType;
using recorder::nccl::Reduction;
using recorder::nccl::Stream;
using recorder::nccl::UniqueId;
struct Event;
struct Blas;

struct Libraries {
#define NCCL(function, ...) int (*function)(__VA_ARGS__) = nullptr;
#define DEVICE(function, ...) NCCL(function, __VA_ARGS__)
#define BLAS(function, ...) NCCL(function, __VA_ARGS__)
#include "functions.def"
  std::string name;  // "NCCL 2.32.3"
};

/// Opens what is there. Problems say what is missing and how it is got; `multiplies`: cuBLAS, too.
Result<Libraries> open_libraries(bool multiplies);

/// Throws what a function of them returned, where that is no success.
void check(int returned, const char* function);

}  // namespace headway::replay::nccl

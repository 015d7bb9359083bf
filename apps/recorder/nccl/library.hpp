// NCCL (or RCCL) as the program has it: its own functions, behind those of this library.
#pragma once

#include "abi.hpp"

namespace headway::recorder::nccl {

/// The library's own functions; null: it has none of the name.
struct Library {
#define FUNCTION(function, ...) Result (*function)(__VA_ARGS__);
#define COLLECTIVE(function, op, bytes, root, arguments, ...) FUNCTION(function, __VA_ARGS__)
#define CONFIGURED(function, op, bytes, root, arguments, ...) \
  FUNCTION(function, __VA_ARGS__)                             \
  FUNCTION(function##Config, __VA_ARGS__, const void*)
#define MESSAGE(function, op, arguments, ...) FUNCTION(function, __VA_ARGS__)
#define UNSIZED(function, op, peer, arguments, ...) FUNCTION(function, __VA_ARGS__)
#include "calls.def"
#include "own.def"
#undef FUNCTION
  // Those that it is asked by.
  Result (*ncclGetVersion)(int* version);
  Result (*ncclCommCount)(Comm comm, int* ranks);
  Result (*ncclCommUserRank)(Comm comm, int* rank);
  Result (*ncclCommCuDevice)(Comm comm, int* device);

  int version = 0;
  bool known = false;  // of a version whose functions are as this one declares them
  bool is_rccl = false;
};

/// Found when it is first asked for and NCCL is loaded; until then without functions.
const Library& library();

/// The functions that are recorded, by their numbers.
enum Function : unsigned {
#define COLLECTIVE(function, ...) k_##function,
#define CONFIGURED(function, ...) k_##function, k_##function##Config,
#define MESSAGE(function, ...) k_##function,
#define UNSIZED(function, ...) k_##function,
#include "calls.def"
  kFunctions
};

/// Their names as a list of JSON.
const char* function_names();

}  // namespace headway::recorder::nccl

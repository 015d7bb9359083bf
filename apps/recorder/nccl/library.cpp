#include "library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <atomic>

#include "../file/locked.hpp"
#include "loaded.hpp"

namespace headway::recorder::nccl {
namespace {

Library found;
std::atomic<bool> is_found{false};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Behind this library in the program's own order; or, where NCCL was loaded for one part of the
// program alone (as Python loads torch), from the library itself.
class Lookup {
 public:
  template <class Function>
  void operator()(Function*& function, const char* name) {
    void* symbol = ::dlsym(RTLD_NEXT, name);
    if (symbol == nullptr && !searched_) {
      library_ = loaded_library_with("ncclGetVersion");
      searched_ = true;
    }
    if (symbol == nullptr && library_ != nullptr) symbol = ::dlsym(library_, name);
    function = reinterpret_cast<Function*>(symbol);
  }

 private:
  void* library_ = nullptr;
  bool searched_ = false;
};

bool is_rccl(void* function) {
  Dl_info where{};
  return ::dladdr(function, &where) != 0 && ::strstr(where.dli_fname, "librccl") != nullptr;
}

void find() {
  Lookup look_up;
  look_up(found.ncclGetVersion, "ncclGetVersion");
  if (found.ncclGetVersion == nullptr) return;
#define FUNCTION(function, ...) look_up(found.function, #function);
#define COLLECTIVE(function, ...) FUNCTION(function)
#define CONFIGURED(function, ...) FUNCTION(function) FUNCTION(function##Config)
#define MESSAGE(function, ...) FUNCTION(function)
#define UNSIZED(function, ...) FUNCTION(function)
#include "calls.def"
#include "own.def"
#undef FUNCTION
  look_up(found.ncclCommCount, "ncclCommCount");
  look_up(found.ncclCommUserRank, "ncclCommUserRank");
  look_up(found.ncclCommCuDevice, "ncclCommCuDevice");
  found.ncclGetVersion(&found.version);
  found.known = found.version >= kFirstKnown && found.version <= kLastKnown;
  found.is_rccl = is_rccl(reinterpret_cast<void*>(found.ncclGetVersion));
  is_found.store(true, std::memory_order_release);
}

}  // namespace

const Library& library() {
  if (is_found.load(std::memory_order_acquire)) return found;
  const Locked locked(lock);
  if (!is_found.load(std::memory_order_relaxed)) find();
  return found;
}

const char* function_names() {
  static char names[32 * kFunctions];
  std::size_t length = 0;
  const auto add = [&](const char* name) {
    length += static_cast<std::size_t>(::snprintf(names + length, sizeof names - length, "%s\"%s\"",
                                                  length == 0 ? "[" : ",", name));
  };
#define COLLECTIVE(function, ...) add(#function);
#define CONFIGURED(function, ...) add(#function), add(#function "Config");
#define MESSAGE(function, ...) add(#function);
#define UNSIZED(function, ...) add(#function);
#include "calls.def"
  ::snprintf(names + length, sizeof names - length, "]");
  return names;
}

}  // namespace headway::recorder::nccl

#include "loaded.hpp"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

namespace headway::recorder::nccl {
namespace {

struct Search {
  const char* function;
  const char* beginning;
  void* library = nullptr;
};

const char* file_name(const char* path) {
  const char* slash = ::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool is_this_one(const char* path) {
  Dl_info here{};
  return ::dladdr(reinterpret_cast<void*>(&loaded_library_with), &here) != 0 &&
         ::strcmp(here.dli_fname, path) == 0;
}

int look_at(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const char* path = info->dlpi_name;
  if (path == nullptr || *path == '\0') return 0;
  if (search.beginning != nullptr &&
      ::strncmp(file_name(path), search.beginning, ::strlen(search.beginning)) != 0) {
    return 0;
  }
  void* library = ::dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  ::dlclose(library);  // it stays, for the program has it
  if (search.function != nullptr) {
    Dl_info where{};
    void* found = ::dlsym(library, search.function);
    if (found == nullptr || ::dladdr(found, &where) == 0 || ::strcmp(where.dli_fname, path) != 0 ||
        is_this_one(path)) {
      return 0;
    }
  }
  search.library = library;
  return 1;
}

void* searched(Search search) {
  ::dl_iterate_phdr(look_at, &search);
  return search.library;
}

}  // namespace

void* loaded_library_with(const char* function) {
  return searched({function, nullptr});
}

void* loaded_library_named(const char* beginning) {
  return searched({nullptr, beginning});
}

}  // namespace headway::recorder::nccl

// Runs program_for_test.cpp: linked with it; or, as Python loads torch, for itself alone (LOADED).
#ifdef LOADED
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* library = ::dlopen(LOADED, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 1;
  }
  return reinterpret_cast<int (*)(int, char**)>(::dlsym(library, "run_program"))(argc, argv);
}
#else
extern "C" int run_program(int argc, char** argv);

int main(int argc, char** argv) {
  return run_program(argc, argv);
}
#endif

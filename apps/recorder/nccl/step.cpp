// What headway_step() of a program calls.
#include <dlfcn.h>

#include "../file/writer.hpp"

extern "C" __attribute__((visibility("default"))) void headway_record_step() {
  headway::recorder::begin_step();
  // The recorder of another library counts them, too.
  static void (*next)() = reinterpret_cast<void (*)()>(::dlsym(RTLD_NEXT, "headway_record_step"));
  if (next != nullptr) next();
}

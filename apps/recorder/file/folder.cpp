#include "folder.hpp"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::recorder {

constexpr int kMostRuns = 10'000;

bool begin_in_run(const Settings& settings, int run, const char* ending, const Identity& identity,
                  const char*& why) {
  char path[PATH_MAX];
  ::mkdir(settings.folder, 0700);
  int length = ::snprintf(path, sizeof path, "%s", settings.folder);
  if (run > 1) {
    length +=
        ::snprintf(path + length, sizeof path - static_cast<std::size_t>(length), "/run%d", run);
    ::mkdir(path, 0700);
  }
  ::snprintf(path + length, sizeof path - static_cast<std::size_t>(length), "/rank%d%s",
             identity.rank, ending);
  return begin_file(settings, path, identity, why);
}

bool begin_in_first_free(const Settings& settings, int& run, const char* ending,
                         const Identity& identity, const char*& why) {
  while (!begin_in_run(settings, run, ending, identity, why)) {
    if (errno != EEXIST || run == kMostRuns) return false;
    ++run;
  }
  return true;
}

void say_not_recorded(const Settings& settings, int rank, const char* why) {
  ::fprintf(stderr, "headway record: rank %d is not recorded: %s: %s\n", rank, settings.folder,
            why);
}

void say_if_no_step_was_marked(const Settings& settings, int rank) {
  if (rank != 0 || !settings.by_step || marked_steps() != 0) return;
  ::fprintf(stderr,
            "headway record: the program marked no step (headway_step), so that none of --steps "
            "was recorded\n");
}

const char* host_name() {
  static char name[256];
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace headway::recorder

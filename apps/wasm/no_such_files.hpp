// What libc++'s <filesystem> calls and WASI has nothing of: rights, whole paths, free space.
// Included before its sources by scripts/wasm-libraries.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define DT_SOCK 12  // as in Linux; no file of WASI is one

struct statvfs {
  unsigned long f_frsize, f_blocks, f_bfree, f_bavail;
};
inline int statvfs(const char*, struct statvfs*) {
  errno = ENOSYS;
  return -1;
}
inline int fchmod(int, mode_t) {
  errno = ENOSYS;
  return -1;
}
inline int fchmodat(int, const char*, mode_t, int) {
  errno = ENOSYS;
  return -1;
}
inline char* realpath(const char*, char*) {
  errno = ENOSYS;
  return nullptr;
}

// Counts what a program writes to its sockets: loaded before it by the test of the recorder.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned long long bytes;

unsigned long long wire_bytes(void) { return __atomic_load_n(&bytes, __ATOMIC_RELAXED); }

static ssize_t counted(int file, ssize_t wrote) {
  struct stat status;
  if (wrote > 0 && fstat(file, &status) == 0 && S_ISSOCK(status.st_mode)) {
    __atomic_fetch_add(&bytes, (unsigned long long)wrote, __ATOMIC_RELAXED);
  }
  return wrote;
}

#define REAL(name) (real ? real : (real = (__typeof__(real))dlsym(RTLD_NEXT, name)))

ssize_t write(int file, const void *data, size_t size) {
  static ssize_t (*real)(int, const void *, size_t);
  return counted(file, REAL("write")(file, data, size));
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  static ssize_t (*real)(int, const struct iovec *, int);
  return counted(file, REAL("writev")(file, parts, count));
}
ssize_t send(int file, const void *data, size_t size, int flags) {
  static ssize_t (*real)(int, const void *, size_t, int);
  return counted(file, REAL("send")(file, data, size, flags));
}
ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  static ssize_t (*real)(int, const struct msghdr *, int);
  return counted(file, REAL("sendmsg")(file, message, flags));
}

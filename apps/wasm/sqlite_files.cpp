// SQLite's files in the browser: traces that are read, of which none is ever written. The library
// is built without files of its own (scripts/wasm-libraries, SQLITE_OS_OTHER).
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace {

struct ReadFile : sqlite3_file {
  std::FILE* file;
};

int close_file(sqlite3_file* base) {
  std::fclose(static_cast<ReadFile*>(base)->file);
  return SQLITE_OK;
}

// What lies behind the end is zeros, and said to be short.
int read_file(sqlite3_file* base, void* to, int bytes, sqlite3_int64 from) {
  std::FILE* const file = static_cast<ReadFile*>(base)->file;
  if (fseeko(file, from, SEEK_SET) != 0) return SQLITE_IOERR_READ;
  const std::size_t found = std::fread(to, 1, static_cast<std::size_t>(bytes), file);
  if (found == static_cast<std::size_t>(bytes)) return SQLITE_OK;
  if (std::ferror(file) != 0) return SQLITE_IOERR_READ;
  std::memset(static_cast<char*>(to) + found, 0, static_cast<std::size_t>(bytes) - found);
  return SQLITE_IOERR_SHORT_READ;
}

int size_of_file(sqlite3_file* base, sqlite3_int64* bytes) {
  std::FILE* const file = static_cast<ReadFile*>(base)->file;
  if (fseeko(file, 0, SEEK_END) != 0) return SQLITE_IOERR_FSTAT;
  *bytes = ftello(file);
  return SQLITE_OK;
}

// Nobody else has the file, and it stays as it is.
const sqlite3_io_methods kReading = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; },
    .xTruncate = [](sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; },
    .xSync = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xFileSize = size_of_file,
    .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xCheckReservedLock =
        [](sqlite3_file*, int* locked) {
          *locked = 0;
          return SQLITE_OK;
        },
    .xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
    .xSectorSize = [](sqlite3_file*) { return 4096; },
    .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; },
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* base, int flags, int* out_flags) {
  auto* const opened = static_cast<ReadFile*>(base);
  opened->pMethods = nullptr;
  if (name == nullptr || (flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
  opened->file = std::fopen(name, "rb");
  if (opened->file == nullptr) return SQLITE_CANTOPEN;
  opened->pMethods = &kReading;
  if (out_flags != nullptr) *out_flags = SQLITE_OPEN_READONLY;
  return SQLITE_OK;
}

// No database has a journal beside it.
int no_such_file(sqlite3_vfs*, const char*, int, int* there) {
  *there = 0;
  return SQLITE_OK;
}

int same_name(sqlite3_vfs*, const char* name, int room, char* out) {
  sqlite3_snprintf(room, out, "%s", name);
  return SQLITE_OK;
}

// Only names of temporary files are drawn by it, of which there are none.
int no_randomness(sqlite3_vfs*, int bytes, char* out) {
  std::fill(out, out + bytes, '\0');
  return bytes;
}

}  // namespace

extern "C" int sqlite3_os_init() {
  static sqlite3_vfs files = {
      .iVersion = 1,
      .szOsFile = sizeof(ReadFile),
      .mxPathname = 4096,
      .pNext = nullptr,
      .zName = "headway-reading",
      .pAppData = nullptr,
      .xOpen = open_file,
      .xDelete = [](sqlite3_vfs*, const char*, int) { return SQLITE_OK; },
      .xAccess = no_such_file,
      .xFullPathname = same_name,
      .xDlOpen = nullptr,
      .xDlError = nullptr,
      .xDlSym = nullptr,
      .xDlClose = nullptr,
      .xRandomness = no_randomness,
      .xSleep = [](sqlite3_vfs*, int) { return 0; },
      .xCurrentTime =
          [](sqlite3_vfs*, double* day) {
            *day = 0;
            return SQLITE_OK;
          },
      .xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; },
      .xCurrentTimeInt64 = nullptr,
      .xSetSystemCall = nullptr,
      .xGetSystemCall = nullptr,
      .xNextSystemCall = nullptr,
  };
  return sqlite3_vfs_register(&files, 1);
}

extern "C" int sqlite3_os_end() {
  return SQLITE_OK;
}

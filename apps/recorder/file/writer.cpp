#include "writer.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "locked.hpp"
#include "ring.hpp"
#include "shown_count.hpp"

namespace headway::recorder {
namespace {

using record_file::Record;

constexpr unsigned kRingPower = 16;          // 65,536 records: 4 MiB
constexpr std::int64_t kEvery = 20'000'000;  // ns between two visits of the thread
constexpr std::size_t kTogether = 1024;      // records of one write
constexpr std::size_t kHeaderMost = 64 * 1024;
constexpr std::size_t kLine = 64;

struct Text {
  Text* next;
  std::size_t length;
  char* json;
};

// The file, under `lock`.
struct File {
  int descriptor = -1;
  int number = 0;              // of the files of this rank
  std::uint64_t size = 0;      // of what is whole in it
  std::uint64_t state_at = 0;  // a multiple of 64
  std::uint64_t lost = 0;      // as the state says: of this file alone, for a reader adds up
  Record together[kTogether];
};

Settings told;
Ring ring;
ShownCount shown;
File file;
Text* texts = nullptr;
Text** last_text = &texts;
char path_of_all[PATH_MAX];
char header[kHeaderMost];
std::size_t header_length = 0;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_t thread;
sem_t wake;
bool wake_is_there = false;
std::atomic<bool> running{false};
std::atomic<bool> recording_step{true};
std::atomic<std::int64_t> step{-1};
std::atomic<std::uint64_t> lost_otherwise{0};  // than in the ring: on the disk, or never there
std::uint64_t lost_before = 0;                 // as files say that are ended; under `lock`
// Records of the ring; under `lock`.
std::uint64_t taken_before = 0;   // that are in the files before this one
std::uint64_t taken = 0;          // that are in this one
std::uint64_t taken_in_vain = 0;  // that the disk did not take
Moment began;

// All or nothing: after a failure the file is as long as before.
bool append(const void* bytes, std::size_t length) {
  const char* from = static_cast<const char*>(bytes);
  std::size_t left = length;
  while (left > 0) {
    const ssize_t wrote = ::pwrite(file.descriptor, from + (length - left), left,
                                   static_cast<off_t>(file.size + (length - left)));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    left -= static_cast<std::size_t>(wrote);
  }
  if (left > 0) {
    const int cut = ::ftruncate(file.descriptor, static_cast<off_t>(file.size));
    (void)cut;
    return false;
  }
  file.size += length;
  return true;
}

// Of all that was lost what no ended file says.
std::uint64_t lost_now() {
  return ring.lost() + lost_otherwise.load() - lost_before;
}

// start_ns is the ring's, which says there how many records came (ShownCount).
Record state_of(bool whole) {
  Record state{};
  const std::uint64_t lost_in_ring = ring.lost();
  file.lost = lost_in_ring + lost_otherwise.load() - lost_before;
  state.duration_ns = taken_before + taken_in_vain + lost_in_ring;
  state.bytes = file.lost;
  state.asked = state.done = record_file::kState;
  state.flags = whole ? record_file::kWhole : 0u;
  return state;
}

void write_state(bool whole) {
  const Record state = state_of(whole);
  constexpr std::size_t kBehind = sizeof state.start_ns;
  const ssize_t wrote =
      ::pwrite(file.descriptor, reinterpret_cast<const char*>(&state) + kBehind,
               sizeof state - kBehind, static_cast<off_t>(file.state_at + kBehind));
  (void)wrote;
}

bool append_text(const Text& text) {
  const std::size_t padded = record_file::slots(text.length) * record_file::kRecordBytes;
  char* bytes = static_cast<char*>(::malloc(sizeof(Record) + padded));
  if (bytes == nullptr) return false;
  Record record{};
  record.bytes = text.length;
  record.asked = record.done = record_file::kText;
  ::memcpy(bytes, &record, sizeof record);
  ::memset(bytes + sizeof record, ' ', padded);
  ::memcpy(bytes + sizeof record, text.json, text.length);
  const bool done = append(bytes, sizeof record + padded);
  ::free(bytes);
  return done;
}

// A file with all that the records behind it need; nothing is lost in it yet.
bool open_next() {
  char path[PATH_MAX + 32];
  if (file.number == 0) {
    ::snprintf(path, sizeof path, "%s.hwr", path_of_all);
  } else {
    ::snprintf(path, sizeof path, "%s.%d.hwr", path_of_all, file.number);
  }
  const int opened = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (opened < 0) return false;
  file.descriptor = opened;
  file.size = 0;
  bool done = append(header, header_length);
  file.state_at = file.size;
  const Record state = state_of(false);
  done = done && append(&state, sizeof state);
  if (!done) {
    // It holds nothing that could be read, and its name would be taken at the next try.
    const int error = errno;
    ::unlink(path);
    ::close(opened);
    file.descriptor = -1;
    errno = error;
    return false;
  }
  for (const Text* text = texts; text != nullptr; text = text->next) {
    if (!append_text(*text)) lost_otherwise.fetch_add(1);
  }
  return true;
}

// Of the file that is open now.
void show_count() {
  if (auto* word = shown.map(file.descriptor, file.state_at)) ring.show_in(word);
}

void close_whole() {
  write_state(true);
  lost_before += file.lost;
  file.lost = 0;
  ::close(file.descriptor);
  file.descriptor = -1;
}

void rotate() {
  if (told.rotate_bytes == 0 || file.size < told.rotate_bytes) return;
  const int full = file.descriptor;
  const std::uint64_t full_size = file.size, full_state = file.state_at, full_taken = taken;
  const std::uint64_t full_lost = file.lost;
  ++file.number;
  taken_before += taken;
  taken = 0;
  if (open_next()) {
    const int next = file.descriptor;
    const std::uint64_t next_size = file.size, next_state = file.state_at;
    // Before the one before it is ended: a program may be killed at any moment, and of two files
    // that are not ended a reader counts once.
    show_count();
    file.descriptor = full, file.state_at = full_state;
    close_whole();
    file.descriptor = next, file.size = next_size, file.state_at = next_state;
    write_state(false);  // what was lost says the file before
    return;
  }
  --file.number;  // goes on in the one there is
  file.descriptor = full, file.size = full_size, file.state_at = full_state, file.lost = full_lost;
  taken_before -= full_taken;
  taken = full_taken;
}

// Under `lock`: everything that came is in the file, or lost and counted.
void drain() {
  if (file.descriptor < 0) return;
  const Ticks in_ticks(began, this_moment());
  for (;;) {
    std::size_t count = 0;
    for (; count < kTogether && ring.take(file.together[count]); ++count) {
      Record& record = file.together[count];
      record.start_ns = in_ticks.ns_at(record.start_ns);
      record.duration_ns = in_ticks.ns_of(record.duration_ns);
    }
    if (count == 0) break;
    if (append(file.together, count * sizeof(Record))) {
      taken += count;
    } else {
      taken_in_vain += count;
      lost_otherwise.fetch_add(count);
    }
    rotate();
    if (count < kTogether) break;
  }
  if (file.lost != lost_now()) write_state(false);
}

void* write_on(void*) {
  while (running.load()) {
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    const std::int64_t ns = until.tv_nsec + kEvery;
    until.tv_sec += ns / 1'000'000'000;
    until.tv_nsec = ns % 1'000'000'000;
    ::sem_timedwait(&wake, &until);
    const Locked locked(lock);
    drain();
  }
  return nullptr;
}

// The thread takes no signal of the program's: a file that may not grow gives an error instead.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() {
    const int error = errno;
    // A signal of the file's size that came meanwhile is of this writing, not of the program's.
    const timespec at_once{};
    sigset_t size;
    ::sigemptyset(&size);
    ::sigaddset(&size, SIGXFSZ);
    if (!::sigismember(&before_, SIGXFSZ)) ::sigtimedwait(&size, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t before_;
};

// What stands between quotes in JSON.
void quote(const char* text, char* to, std::size_t most) {
  std::size_t at = 0;
  for (; *text != '\0' && at + 2 < most; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') to[at++] = '\\';
    to[at++] = c < ' ' || c > '~' ? ' ' : *text;
  }
  to[at] = '\0';
}

void write_header(const Identity& identity) {
  char host[256], library[512], counts[512];
  quote(identity.host, host, sizeof host);
  quote(identity.library, library, sizeof library);
  quote(identity.counts, counts, sizeof counts);
  timespec wall{};
  ::clock_gettime(CLOCK_REALTIME, &wall);
  const int length = ::snprintf(
      header, sizeof header,
      "%s%d,\"rank\":%d,\"world\":%d,\"host\":\"%s\",\"pid\":%d,\"library\":\"%s\","
      "\"clock\":\"monotonic\",\"began_ns\":%llu,\"began_unix_s\":%lld,\"counts\":\"%s\","
      "\"functions\":%s}\n",
      record_file::kMark, record_file::kVersion, identity.rank, identity.world, host,
      static_cast<int>(::getpid()), library, static_cast<unsigned long long>(now_ns()),
      static_cast<long long>(wall.tv_sec), counts, identity.functions);
  header_length = length < 0 || static_cast<std::size_t>(length) + kLine >= sizeof header
                      ? 0
                      : static_cast<std::size_t>(length);
  // Spaces before its end: what stands behind begins with a line of the cache, in one page.
  while (header_length % kLine != 0) {
    header[header_length - 1] = ' ';
    header[header_length++] = '\n';
  }
}

}  // namespace

namespace {

bool is_step_recorded(std::int64_t number) {
  return !told.by_step || (number >= told.first_step && number <= told.last_step);
}

void put_step(std::int64_t number) {
  Record record{};
  record.start_ns = ticks();
  record.bytes = static_cast<std::uint64_t>(number);
  record.asked = record.done = record_file::kStep;
  put(record);
}

}  // namespace

bool begin_file(const Settings& settings, const char* path, const Identity& identity,
                const char*& why) {
  // The thread of an earlier file may look for the last time.
  const SignalsBlocked blocked;
  const Locked locked(lock);
  told = settings;
  choose_clock();
  began = this_moment();
  if (::strlen(path) >= sizeof path_of_all) return why = "the path is too long", false;
  ::strcpy(path_of_all, path);
  write_header(identity);
  if (header_length == 0) return why = "the header is too long", false;
  if (!ring.make(kRingPower)) return why = "there is no memory for its buffer", false;
  file.number = 0;
  taken_before += taken;
  taken = 0;
  if (!open_next()) return why = ::strerror(errno), false;
  show_count();
  // A step may have been marked before there was anything to record.
  const std::int64_t now = step.load();
  recording_step.store(is_step_recorded(now));
  if (!wake_is_there) wake_is_there = ::sem_init(&wake, 0, 0) == 0;
  running.store(true);
  if (::pthread_create(&thread, nullptr, write_on, nullptr) != 0) {
    running.store(false);
    ::close(file.descriptor);
    file.descriptor = -1;
    return why = "no thread could be started", false;
  }
  ::pthread_detach(thread);
  if (now >= 0 && is_step_recorded(now)) put_step(now);
  return true;
}

bool is_time_to_record() {
  return recording_step.load(std::memory_order_relaxed);
}

bool is_recorded(std::uint8_t op) {
  const std::uint64_t bit = op < 64                    ? std::uint64_t{1} << op
                            : op == record_file::kWait ? kWaitBit
                            : op == record_file::kFile ? kFileBit
                                                       : ~std::uint64_t{0};
  return (told.operations & bit) != 0;
}

namespace {
// Of one rank's part nobody here knows how large the whole is: it stays.
bool is_large_enough(const Record& record) {
  const bool has_size = record.asked < 64 && record.asked != record_file::kBarrier;
  const bool is_part = (record.flags & (record_file::kPart | record_file::kEachPart)) != 0;
  return !has_size || is_part || record.bytes >= told.min_bytes;
}
}  // namespace

bool is_kept(const Record& record) {
  return is_time_to_record() && is_recorded(record.asked) && is_large_enough(record);
}

void put(const Record& record) {
  if (!is_recorded(record.asked) || !is_large_enough(record)) return;
  const std::uint64_t at = ring.put(record);
  // A quarter of the buffer more: the thread shall come before its time.
  if ((at & (ring.size() / 4 - 1)) == 0) ::sem_post(&wake);
}

void lose(std::uint8_t op) {
  if (is_time_to_record() && is_recorded(op)) lost_otherwise.fetch_add(1);
}

void put_text(const char* json, std::size_t length) {
  auto* text = static_cast<Text*>(::malloc(sizeof(Text) + length));
  if (text == nullptr) return;
  text->next = nullptr;
  text->length = length;
  text->json = reinterpret_cast<char*>(text + 1);
  ::memcpy(text->json, json, length);
  const SignalsBlocked blocked;
  const Locked locked(lock);
  *last_text = text;
  last_text = &text->next;
  if (file.descriptor >= 0 && !append_text(*text)) lost_otherwise.fetch_add(1);
}

void begin_step() {
  const std::int64_t now = step.fetch_add(1) + 1;
  const bool records = is_step_recorded(now);
  recording_step.store(records);
  if (running.load() && records) put_step(now);
}

void write_now() {
  if (!running.load()) return;
  const SignalsBlocked blocked;
  const Locked locked(lock);
  drain();
}

void end_file() {
  if (!running.exchange(false)) return;
  // The thread is not waited for: it finds nothing to do when it comes next.
  const SignalsBlocked blocked;
  const Locked locked(lock);
  drain();
  close_whole();
  shown.leave();
}

void abandon_file() {
  running.store(false);
  shown.leave();  // the page is the parent's as well
  if (file.descriptor >= 0) ::close(file.descriptor);
  file.descriptor = -1;
}

std::int64_t marked_steps() {
  return step.load() + 1;
}

}  // namespace headway::recorder

#include "events.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "../file/clock.hpp"
#include "../file/locked.hpp"
#include "../file/writer.hpp"
#include "device.hpp"

namespace headway::recorder::nccl {

using record_file::Record;

// Two events of a context and the records that wait for them.
struct Pair {
  void* first = nullptr;
  void* last = nullptr;
  struct Pool* pool = nullptr;
  Pair* next = nullptr;  // among the free ones, or those that wait
  std::size_t count = 0;
  Record one;
  Record* many = nullptr;  // of more than one
};

// An event whose time on the host is known, to within what two looks at it are apart.
struct Anchor {
  void* event = nullptr;
  void* other = nullptr;  // for the next try
  std::uint64_t at_ns = 0;
  bool set = false;
};

struct Pool {
  void* context = nullptr;
  Pair* free = nullptr;
  Pair* waiting = nullptr;
  Pair** last_waiting = &waiting;
  std::size_t made = 0, spare = 0;
  Stream* own_stream = nullptr;
  Anchor anchor;
  bool without_anchor = false;
  std::atomic<bool> begun{false};  // its first pairs are made
  Pool* next = nullptr;
};

namespace {

constexpr std::size_t kAtOnce = 64;          // pairs made together
constexpr std::size_t kFew = kAtOnce / 4;    // that are free: more are made
constexpr std::size_t kMostPairs = 8192;     // of a context; where all wait, calls have no times
constexpr std::int64_t kSoon = 1'000'000;    // ns from look to look while some wait
constexpr std::int64_t kLater = 20'000'000;  // and while none does
constexpr std::uint64_t kAnchorAge = 10'000'000'000;  // ns: clocks of devices drift by some 1 ppm
constexpr std::uint64_t kAnchorPatience = 2'000'000;  // ns: an idle device answers in some 10 us

const Device* device = nullptr;
Pool* pools = nullptr;  // only ever more, at its head
// Of the lists; never held while the device is asked for anything but new events.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;  // one looks at a time
pthread_t thread;
sem_t wake;
std::atomic<bool> running{false};
Moment began;

// With the pool's context in use.
void make_pairs(Pool& pool) {
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    auto* pair = static_cast<Pair*>(::calloc(1, sizeof(Pair)));
    if (pair == nullptr) return;
    if (device->event_create(&pair->first, 0) != 0 || device->event_create(&pair->last, 0) != 0) {
      ::free(pair);
      return;
    }
    pair->pool = &pool;
    const Locked locked(lock);
    pair->next = pool.free;
    pool.free = pair;
    ++pool.spare;
    if (++pool.made >= kMostPairs) return;
  }
}

Pool* known_pool(void* context) {
  const Locked locked(lock);
  for (Pool* pool = pools; pool != nullptr; pool = pool->next) {
    if (pool->context == context) return pool;
  }
  void* room = ::malloc(sizeof(Pool));
  if (room == nullptr) return nullptr;
  auto* pool = new (room) Pool();
  pool->context = context;
  pool->next = pools;
  pools = pool;
  return pool;
}

// Its first pairs are made where they are asked for: the thread that makes more comes too late.
Pool* pool_of(void* context) {
  Pool* pool = known_pool(context);
  if (pool == nullptr || pool->begun.exchange(true)) return pool;
  void* before = nullptr;
  device->get_context(&before);
  if (before == context || device->set_context(context) == 0) make_pairs(*pool);
  if (before != context) device->set_context(before);
  return pool;
}

// Null: none is free. `few`: more shall be made.
Pair* take_pair(Pool& pool, bool& few) {
  const Locked locked(lock);
  Pair* pair = pool.free;
  if (pair != nullptr) {
    pool.free = pair->next;
    --pool.spare;
  }
  few = pool.spare < kFew;
  return pair;
}

// Under `lock`.
void free_pair(Pair* pair) {
  ::free(pair->many);
  pair->many = nullptr;
  pair->count = 0;
  pair->next = pair->pool->free;
  pair->pool->free = pair;
  ++pair->pool->spare;
}

bool make_anchor(Pool& pool) {
  Anchor& anchor = pool.anchor;
  return device->stream_create(&pool.own_stream, kStreamNonBlocking) == 0 &&
         device->event_create(&anchor.event, 0) == 0 && device->event_create(&anchor.other, 0) == 0;
}

// [RECORD-5] The host's time of an event on a stream of our own, which is idle: the middle between
// the moment before it was recorded and the one when it was seen passed; of five tries the
// shortest.
void set_anchor(Pool& pool) {
  Anchor& anchor = pool.anchor;
  if (pool.without_anchor || (anchor.set && now_ns() - anchor.at_ns < kAnchorAge)) return;
  if (pool.own_stream == nullptr && !make_anchor(pool)) {
    pool.without_anchor = true;
    return;
  }
  std::uint64_t shortest = kAnchorPatience;
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = now_ns();
    if (device->event_record(anchor.other, pool.own_stream) != 0) return;
    std::uint64_t after = before;
    while (device->event_query(anchor.other) == kNotReady && after - before < kAnchorPatience) {
      after = now_ns();
    }
    after = now_ns();
    if (after - before >= shortest) continue;
    shortest = after - before;
    std::swap(anchor.event, anchor.other);
    anchor.at_ns = before + shortest / 2;
    anchor.set = true;
  }
}

// The records of a pair, with the device's time if `passed`.
void put_records(Pair& pair, bool passed, const Ticks& in_ticks) {
  float milliseconds = 0, since_anchor = 0;
  const bool timed = passed && device->event_elapsed(&milliseconds, pair.first, pair.last) == 0;
  const Anchor& anchor = pair.pool->anchor;
  const bool placed =
      timed && anchor.set && device->event_elapsed(&since_anchor, anchor.event, pair.first) == 0;
  Record* records = pair.many != nullptr ? pair.many : &pair.one;
  for (std::size_t i = 0; i < pair.count; ++i) {
    Record& record = records[i];
    if (timed) {
      record.time = record_file::kDevice;
      record.duration_ns = in_ticks.ticks_of(static_cast<double>(milliseconds) * 1e6);
    }
    if (placed) {
      const auto after = static_cast<std::int64_t>(static_cast<double>(since_anchor) * 1e6);
      record.start_ns = in_ticks.ticks_at(anchor.at_ns + static_cast<std::uint64_t>(after));
    } else if (timed) {
      record.start_ns = records[0].start_ns;  // of all together, when the host put them there
    }
    put(record);
  }
}

// What waits, taken out: to look at without the lock.
Pair* take_waiting(Pool& pool) {
  const Locked locked(lock);
  Pair* out = pool.waiting;
  pool.waiting = nullptr;
  pool.last_waiting = &pool.waiting;
  return out;
}

// What the device has passed is put into the file; `all`: the rest as well. True where some wait
// on.
bool look_at(Pool& pool, const Ticks& in_ticks, bool all) {
  Pair* waiting = take_waiting(pool);
  if (waiting != nullptr) set_anchor(pool);
  Pair* left = nullptr;
  Pair** last_left = &left;
  while (Pair* pair = waiting) {
    waiting = pair->next;
    const int state = device->event_query(pair->last);
    if (state == kNotReady && !all) {
      *last_left = pair;
      last_left = &pair->next;
      continue;
    }
    put_records(*pair, state == 0, in_ticks);
    const Locked locked(lock);
    free_pair(pair);
  }
  const Locked locked(lock);
  if (pool.waiting == nullptr && left != nullptr) pool.last_waiting = last_left;
  *last_left = pool.waiting;
  pool.waiting = left;
  return left != nullptr;
}

Pool* first_pool() {
  const Locked locked(lock);
  return pools;
}

bool wants_pairs(const Pool& pool) {
  const Locked locked(lock);
  return pool.spare < kFew && pool.made < kMostPairs;
}

bool look(bool all) {
  const Locked one(looking);
  const Ticks in_ticks(began, this_moment());
  bool some_wait = false;
  for (Pool* pool = first_pool(); pool != nullptr; pool = pool->next) {
    const bool here = device->set_context(pool->context) == 0;
    if (here || all) some_wait = look_at(*pool, in_ticks, all) || some_wait;
    if (here && !all && pool->begun.load() && wants_pairs(*pool)) make_pairs(*pool);
  }
  return some_wait;
}

void* look_on(void*) {
  // While a stream captures in the mode of all threads, none may ask for events but one of this
  // mode.
  int mode = kCaptureModeRelaxed;
  device->exchange_capture_mode(&mode);
  std::int64_t every = kLater;
  while (running.load()) {
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    const std::int64_t ns = until.tv_nsec + every;
    until.tv_sec += ns / 1'000'000'000;
    until.tv_nsec = ns % 1'000'000'000;
    ::sem_timedwait(&wake, &until);
    if (running.load()) every = look(false) ? kSoon : kLater;
  }
  return nullptr;
}

}  // namespace

void find_events(bool hip) {
  device = find_device(hip);
}

bool begin_events() {
  if (device == nullptr) return false;
  began = this_moment();
  ::sem_init(&wake, 0, 0);
  running.store(true);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = ::pthread_create(&thread, nullptr, look_on, nullptr) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) ::pthread_detach(thread);
  running.store(started);
  return started;
}

Marked mark_begin(Stream* stream, bool timed) {
  Marked out;
  if (device == nullptr) return out;
  int capturing = 0;
  const bool answered = device->stream_capturing(stream, &capturing) == 0;
  if (!answered || capturing != 0) {  // of a stream that is not answered for nothing is said
    out.captured = answered;
    return out;
  }
  if (!timed || !running.load(std::memory_order_relaxed)) return out;
  void* context = nullptr;
  if (device->stream_context(stream, &context) != 0 || context == nullptr) return out;
  Pool* pool = pool_of(context);
  if (pool == nullptr) return out;
  bool few = false;
  Pair* pair = take_pair(*pool, few);
  if (few) ::sem_post(&wake);
  if (pair != nullptr && device->event_record(pair->first, stream) != 0) {
    give_back(pair);
    pair = nullptr;
  }
  out.pair = pair;
  return out;
}

bool mark_end(Pair* pair, Stream* stream) {
  if (device->event_record(pair->last, stream) == 0) return true;
  give_back(pair);
  return false;
}

void keep_until_passed(Pair* pair, const Record* records, std::size_t count) {
  if (count > 1) {
    pair->many = static_cast<Record*>(::malloc(sizeof(Record) * count));
    if (pair->many == nullptr) return give_back(pair);
    ::memcpy(pair->many, records, sizeof(Record) * count);
  } else {
    pair->one = *records;
  }
  pair->count = count;
  pair->next = nullptr;
  const Locked locked(lock);
  *pair->pool->last_waiting = pair;
  pair->pool->last_waiting = &pair->next;
}

void give_back(Pair* pair) {
  const Locked locked(lock);
  free_pair(pair);
}

void end_events() {
  if (!running.exchange(false)) return;
  void* before = nullptr;
  device->get_context(&before);
  look(true);
  device->set_context(before);
}

void abandon_events() {
  running.store(false);
}

}  // namespace headway::recorder::nccl

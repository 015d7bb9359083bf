#include "requests.hpp"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "../file/writer.hpp"

namespace headway::recorder {
namespace {

using record_file::Record;

constexpr std::size_t kFirstRoom = 1024;
constexpr std::size_t kMostRoom = std::size_t{1}
                                  << 20;  // 112 MiB; more are recorded without an end

// Open addressing; what is taken out leaves no mark behind.
struct Entry {
  MPI_Request request;
  bool used;
  Posted call;
};
Entry* entries = nullptr;
std::size_t room = 0;
std::atomic<std::size_t> count{0};  // changed by who holds the lock
std::atomic_flag busy = ATOMIC_FLAG_INIT;

// Held for some ten instructions, or a hundred of those that complete many.
struct Lock {
  Lock() {
    while (busy.test_and_set(std::memory_order_acquire)) ::sched_yield();
  }
  ~Lock() { busy.clear(std::memory_order_release); }
};

void count_one(bool more) {
  const std::size_t now = count.load(std::memory_order_relaxed);
  count.store(more ? now + 1 : now - 1, std::memory_order_relaxed);
}

std::size_t home_of(MPI_Request request) {
  std::uint64_t value = 0;
  static_assert(sizeof request <= sizeof value);
  ::memcpy(&value, &request, sizeof request);
  return static_cast<std::size_t>((value * 0x9e3779b97f4a7c15ull) >> 32) & (room - 1);
}

Entry* find(MPI_Request request) {
  if (room == 0) return nullptr;
  for (std::size_t at = home_of(request); entries[at].used; at = (at + 1) & (room - 1)) {
    if (entries[at].request == request) return &entries[at];
  }
  return nullptr;
}

// Where a request that is not there would stand.
Entry& place_of(MPI_Request request) {
  std::size_t at = home_of(request);
  while (entries[at].used) at = (at + 1) & (room - 1);
  return entries[at];
}

// Those behind it that it kept from their place move up.
void erase(Entry* entry) {
  std::size_t hole = static_cast<std::size_t>(entry - entries);
  for (std::size_t at = (hole + 1) & (room - 1); entries[at].used; at = (at + 1) & (room - 1)) {
    const std::size_t home = home_of(entries[at].request);
    if (((at - home) & (room - 1)) < ((at - hole) & (room - 1))) continue;
    entries[hole] = entries[at];
    hole = at;
  }
  entries[hole].used = false;
  count_one(false);
}

bool grow() {
  if (2 * (count.load() + 1) <= room) return true;
  const std::size_t before = room, more = room == 0 ? kFirstRoom : 2 * room;
  if (more > kMostRoom) return count.load() + 1 < room;
  auto* grown = static_cast<Entry*>(::calloc(more, sizeof(Entry)));
  if (grown == nullptr) return count.load() + 1 < room;
  Entry* old = entries;
  entries = grown;
  room = more;
  for (std::size_t i = 0; i < before; ++i) {
    if (old[i].used) place_of(old[i].request) = old[i];
  }
  ::free(old);
  return true;
}

void put_until(Record& record, std::uint64_t end) {
  record.duration_ns = end > record.start_ns ? end - record.start_ns : 1;
  record.time = record_file::kHost;
  record.flags |= record_file::kUntil;
  put(record);
}

void put_without_end(const Posted& call) {
  Record record = call.record;
  record.duration_ns = 0;
  record.time = record_file::kNone;
  put(record);
}

void number_in_group(Posted& call) {
  if (!call.collective || call.group == nullptr) return;
  call.record.sequence = call.group->collectives.fetch_add(1);
  call.record.flags |= record_file::kSequence;
}

}  // namespace

void post(MPI_Request request, Posted& call) {
  if (!call.persistent) number_in_group(call);
  if (call.persistent) call.started = false;
  if (!call.persistent && !is_time_to_record()) return;
  const Lock lock;
  if (Entry* old = find(request)) {
    // One request stands for all calls that were done when they were posted: the one before was
    // done at the latest when this one began.
    if (old->call.started && !old->call.persistent)
      put_until(old->call.record, call.record.start_ns);
    old->call = call;
  } else if (grow()) {
    place_of(request) = {request, true, call};
    count_one(true);
  } else if (!call.persistent) {
    put_without_end(call);
  }
}

void start_persistent(MPI_Request request, std::uint64_t start) {
  const Lock lock;
  Entry* entry = find(request);
  if (entry == nullptr || !entry->call.persistent) return;
  entry->call.started = is_time_to_record();
  entry->call.record.start_ns = start;
  number_in_group(entry->call);
}

void set_received(Record& record, const MPI_Status& status) {
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  if (cancelled || status.MPI_SOURCE < 0) {  // MPI_PROC_NULL, or an empty status
    record.bytes = 0;
    record.flags &= ~static_cast<std::uint32_t>(record_file::kPeer | record_file::kTag);
    return;
  }
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  if (bytes >= 0) record.bytes = static_cast<std::uint64_t>(bytes);
  record.peer = status.MPI_SOURCE;
  record.stream = static_cast<std::uint32_t>(status.MPI_TAG);
  record.flags |= record_file::kPeer | record_file::kTag;
}

namespace {
// Under the lock.
void complete_one(MPI_Request request, const MPI_Status& status, std::uint64_t end) {
  Entry* entry = find(request);
  if (entry == nullptr || !entry->call.started) return;
  Posted& call = entry->call;
  Record received;
  if (call.persistent) received = call.record;  // it stays as it was asked for
  Record& record = call.persistent ? received : call.record;
  if (call.receives) set_received(record, status);
  put_until(record, end);
  if (call.persistent) {
    call.started = false;
  } else {
    erase(entry);
  }
}
}  // namespace

void complete(MPI_Request request, const MPI_Status& status, std::uint64_t end) {
  keep_promise(request);
  if (!any_posted()) return;
  const Lock lock;
  complete_one(request, status, end);
}

void complete(const MPI_Request* requests, const MPI_Status* statuses, int many,
              std::uint64_t end) {
  for (int i = 0; i < many; ++i) keep_promise(requests[i]);
  if (!any_posted()) return;
  const Lock lock;
  for (int i = 0; i < many; ++i) complete_one(requests[i], statuses[i], end);
}

void release(MPI_Request request) {
  Posted call;
  {
    const Lock lock;
    Entry* entry = find(request);
    if (entry == nullptr) return;
    call = entry->call;
    erase(entry);
  }
  if (call.started) put_without_end(call);
}

void release_all() {
  const Lock lock;
  for (std::size_t i = 0; i < room; ++i) {
    if (entries[i].used && entries[i].call.started) put_without_end(entries[i].call);
    entries[i].used = false;
  }
  count.store(0);
}

bool any_posted() {
  return count.load(std::memory_order_relaxed) != 0;
}

}  // namespace headway::recorder

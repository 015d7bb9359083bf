#include "communicators.hpp"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <new>

#include "../file/hash.hpp"
#include "../file/identity.hpp"
#include "../file/locked.hpp"
#include "library.hpp"
#include "session.hpp"

namespace headway::recorder::nccl {
namespace {

constexpr std::size_t kChains = 256;
constexpr int kMostGroups = 100'000;  // calls on those after them count as lost

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Group* chains[kChains];
std::atomic<unsigned> removed{0};
int all_made = 0;

std::size_t chain_of(Comm comm) {
  return (reinterpret_cast<std::uintptr_t>(comm) >> 4) * 0x9e3779b97f4a7c15u >> 56;
}

// Under `lock`.
Group* find(Comm comm) {
  for (Group* group = chains[chain_of(comm)]; group != nullptr; group = group->next) {
    if (group->comm == comm) return group;
  }
  return nullptr;
}

// Under `lock`.
Group* make(Comm comm, std::uint32_t number, int size, int rank) {
  void* room = all_made < kMostGroups ? ::malloc(sizeof(Group)) : nullptr;
  if (room == nullptr) return nullptr;
  ++all_made;
  auto* group = new (room) Group();
  group->comm = comm;
  group->number = number == 0 ? 1 : number;
  group->size = size;
  group->rank = rank;
  Group*& chain = chains[chain_of(comm)];
  group->next = chain;
  chain = group;
  return group;
}

// Asks the communicator itself, which answers where it is ready.
void complete(Group& group) {
  const Library& nccl = library();
  if (group.size == 0) {
    int size = 0, rank = -1;
    if (nccl.ncclCommCount == nullptr || nccl.ncclCommUserRank == nullptr ||
        nccl.ncclCommCount(group.comm, &size) != kSuccess ||
        nccl.ncclCommUserRank(group.comm, &rank) != kSuccess || size <= 0) {
      return;
    }
    group.size = size;
    group.rank = rank;
  }
  int device = -1;
  if (nccl.ncclCommCuDevice == nullptr || nccl.ncclCommCuDevice(group.comm, &device) != kSuccess) {
    device = -1;
  }
  tell_group(group, device);
  group.told.store(true, std::memory_order_release);
}

}  // namespace

void add_group(Comm comm, std::uint32_t number, int size, int rank) {
  if (comm == nullptr) return;
  const Locked locked(lock);
  if (find(comm) == nullptr) make(comm, number, size, rank);
}

void remove_group(Comm comm) {
  const Locked locked(lock);
  for (Group** at = &chains[chain_of(comm)]; *at != nullptr; at = &(*at)->next) {
    if ((*at)->comm != comm) continue;
    // Not freed: another thread may be in a call on it.
    *at = (*at)->next;
    break;
  }
  removed.fetch_add(1, std::memory_order_release);
}

Group* group_of(Comm comm) {
  if (comm == nullptr) return nullptr;
  struct Last {
    Comm comm = nullptr;
    Group* group = nullptr;
    unsigned removed = 0;
  };
  static thread_local Last lasts[16];
  Last& last = lasts[chain_of(comm) & 15];
  const unsigned now = removed.load(std::memory_order_acquire);
  if (last.comm == comm && last.removed == now && last.group->told.load()) return last.group;
  const Locked locked(lock);
  Group* group = find(comm);
  if (group == nullptr) group = make(comm, number_of_own(), 0, -1);
  if (group != nullptr && !group->told.load()) complete(*group);
  if (group != nullptr) last = {comm, group, now};
  return group;
}

// [RECORD-4] Processes of two machines may have one number (pid), but not one rank.
std::uint32_t number_of_own() {
  static std::atomic<std::uint32_t> made{0};
  const std::uint32_t parts[] = {static_cast<std::uint32_t>(::getpid()),
                                 static_cast<std::uint32_t>(ranks_of_launcher().rank),
                                 made.fetch_add(1)};
  return hash(kHashOfNothing<std::uint32_t>, parts, sizeof parts);
}

std::uint32_t number_of_next(Group& parent, char how, const void* bytes, std::size_t size) {
  const std::uint32_t ordinal = parent.made_of_it.fetch_add(1);
  std::uint32_t state = hash(kHashOfNothing<std::uint32_t>, &parent.number, sizeof parent.number);
  state = hash(state, &how, 1);
  state = hash(state, &ordinal, sizeof ordinal);
  return hash(state, bytes, size);
}

}  // namespace headway::recorder::nccl

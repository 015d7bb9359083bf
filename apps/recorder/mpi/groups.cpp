#include "groups.hpp"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <new>

#include "../file/group_number.hpp"
#include "../file/locked.hpp"
#include "../file/writer.hpp"

namespace headway::recorder {
namespace {

constexpr int kMostGroups = 100'000;  // what comes after them is recorded without a group

Group none;
int group_key = MPI_KEYVAL_INVALID, window_key = MPI_KEYVAL_INVALID;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
std::atomic<unsigned> freed{0};  // communicators: their handles may stand for others since

// How many groups were made of the same ranks, by the number of the first of them.
struct Made {
  std::uint32_t first;
  std::uint32_t count;
};
Made* made = nullptr;
int made_count = 0, made_room = 0, all_made = 0;
MPI_Group world_ranks = MPI_GROUP_NULL;
int world_size = 0;

std::uint32_t ordinal_of(std::uint32_t first) {
  for (int i = 0; i < made_count; ++i) {
    if (made[i].first == first) return made[i].count++;
  }
  if (made_count == made_room) {
    const int room = made_room == 0 ? 64 : 2 * made_room;
    void* grown = ::realloc(made, sizeof(Made) * static_cast<std::size_t>(room));
    if (grown == nullptr) return 0;
    made = static_cast<Made*>(grown);
    made_room = room;
  }
  made[made_count++] = {first, 1};
  return 0;
}

int forget(MPI_Comm, int, void*, void*) {
  freed.fetch_add(1);
  return MPI_SUCCESS;
}

int keep_window(MPI_Win, int, void*, void*) {
  return MPI_SUCCESS;
}

// The ranks as JSON: their list, or of a regular one its step. Groups that lie alike have one name,
// "by 8" of those of every eighth rank; the second of the same ranks is "by 8 #2".
void tell(const Group& group, const int* ranks, int size, std::uint32_t ordinal) {
  bool all_known = size > 0, regular = size > 1;
  for (int i = 0; i < size; ++i) {
    all_known = all_known && ranks[i] != MPI_UNDEFINED;
    regular = regular && ranks[i] - ranks[0] == i * (ranks[1] - ranks[0]);
  }
  regular = regular && ranks[1] > ranks[0];
  const std::size_t room = 128 + 12 * static_cast<std::size_t>(size);
  char* json = static_cast<char*>(::malloc(room));
  if (json == nullptr) return;
  int length = 0;
  const auto add = [&](const char* form, auto... values) {
    length += ::snprintf(json + length, room - static_cast<std::size_t>(length), form, values...);
  };
  char again[16] = "";
  if (ordinal > 0) ::snprintf(again, sizeof again, " #%u", ordinal + 1);
  add("{\"group\":%u", group.number);
  if (size == 1) {
    add(",\"name\":\"self%s\"", again);
  } else if (all_known && regular && size == world_size) {
    add(",\"name\":\"world%s\"", again);
  } else if (all_known && regular) {
    add(",\"name\":\"by %d%s\"", ranks[1] - ranks[0], again);
  }
  if (!all_known) {
    add(",\"size\":%d}", size);
  } else if (regular) {
    add(",\"first\":%d,\"step\":%d,\"size\":%d}", ranks[0], ranks[1] - ranks[0], size);
  } else {
    for (int i = 0; i < size; ++i) add("%s%d", i == 0 ? ",\"ranks\":[" : ",", ranks[i]);
    add("]}");
  }
  put_text(json, static_cast<std::size_t>(length));
  ::free(json);
}

// The world ranks of a group of MPI's, behind `to`.
void translate(MPI_Group group, int size, int* to) {
  int* own = static_cast<int*>(::malloc(sizeof(int) * static_cast<std::size_t>(size)));
  for (int i = 0; own != nullptr && i < size; ++i) own[i] = i;
  if (own != nullptr) PMPI_Group_translate_ranks(group, size, own, world_ranks, to);
  ::free(own);
}

int out_neighbours_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED, count = 0, in = 0, weighted = 0, rank = 0;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    PMPI_Cartdim_get(comm, &count);
    count *= 2;
  } else if (topology == MPI_GRAPH) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &count);
  } else if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &in, &count, &weighted);
  }
  return count;
}

struct Promised {
  MPI_Request request;
  MPI_Comm* made;
  Group* group;
};
Promised* promises = nullptr;
int promise_room = 0;
std::atomic<int> promised{0};

// asked: the group, whether or not a communicator is there yet.
Group* define(MPI_Comm comm, bool asked = false) {
  int between = 0, size = 0, far = 0;
  PMPI_Comm_test_inter(comm, &between);
  PMPI_Comm_size(comm, &size);
  if (between) PMPI_Comm_remote_size(comm, &far);
  const auto count = static_cast<std::size_t>(size + far);
  int* ranks = static_cast<int*>(::malloc(sizeof(int) * count));
  void* room = ::malloc(sizeof(Group));
  if (ranks == nullptr || room == nullptr || all_made >= kMostGroups) {
    ::free(ranks);
    ::free(room);
    return &none;
  }
  ++all_made;
  auto* group = new (room) Group();
  MPI_Group members;
  PMPI_Comm_group(comm, &members);
  translate(members, size, ranks);
  PMPI_Group_free(&members);
  if (between) {
    PMPI_Comm_remote_group(comm, &members);
    translate(members, far, ranks + size);
    PMPI_Group_free(&members);
    // Both sides shall find the same number.
    if (far > 0 && ranks[size] < ranks[0]) {
      int* turned = static_cast<int*>(::malloc(sizeof(int) * count));
      if (turned != nullptr) {
        ::memcpy(turned, ranks + size, sizeof(int) * static_cast<std::size_t>(far));
        ::memcpy(turned + far, ranks, sizeof(int) * static_cast<std::size_t>(size));
        ::free(ranks);
        ranks = turned;
      }
    }
  }
  PMPI_Comm_rank(comm, &group->rank);
  group->size = size + far;
  group->others = between ? far : size;
  group->out_neighbours = out_neighbours_of(comm);
  const std::uint32_t ordinal = ordinal_of(group_number(ranks, count, 0));
  group->number = group_number(ranks, count, ordinal);
  tell(*group, ranks, size + far, ordinal);
  ::free(ranks);
  if (!asked) PMPI_Comm_set_attr(comm, group_key, group);
  return group;
}

}  // namespace

void begin_groups(MPI_Group world) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &group_key, nullptr);
  PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, keep_window, &window_key, nullptr);
  world_ranks = world;
  PMPI_Group_size(world, &world_size);
}

void begin_groups() {
  MPI_Group world;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  begin_groups(world);
  group_of(MPI_COMM_WORLD);
}

void end_groups() {
  if (world_ranks != MPI_GROUP_NULL) PMPI_Group_free(&world_ranks);
}

Group* no_group() {
  return &none;
}

Group* group_of(MPI_Comm comm) {
  struct Last {
    MPI_Comm comm;
    Group* group = nullptr;
    unsigned freed = 0;
  };
  static thread_local Last last;
  const unsigned now = freed.load(std::memory_order_acquire);
  if (last.group != nullptr && last.comm == comm && last.freed == now) return last.group;
  if (comm == MPI_COMM_NULL) return &none;
  void* found = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, group_key, &found, &is_there);
  if (!is_there) {
    const Locked locked(lock);
    PMPI_Comm_get_attr(comm, group_key, &found, &is_there);
    if (!is_there) found = define(comm);
  }
  last.comm = comm, last.group = static_cast<Group*>(found), last.freed = now;
  return last.group;
}

void promise_duplicate(MPI_Comm comm, MPI_Comm* made, MPI_Request request) {
  const Locked locked(lock);
  const int now = promised.load();
  if (now == promise_room) {
    const int room = promise_room == 0 ? 16 : 2 * promise_room;
    void* grown = ::realloc(promises, sizeof(Promised) * static_cast<std::size_t>(room));
    if (grown == nullptr) return;  // it counts from its first use
    promises = static_cast<Promised*>(grown);
    promise_room = room;
  }
  promises[now] = {request, made, define(comm, true)};
  promised.store(now + 1);
}

void keep_promise(MPI_Request request) {
  if (promised.load(std::memory_order_relaxed) == 0) return;
  const Locked locked(lock);
  const int now = promised.load();
  for (int i = 0; i < now; ++i) {
    if (promises[i].request != request) continue;
    if (promises[i].group != &none) {
      PMPI_Comm_set_attr(*promises[i].made, group_key, promises[i].group);
    }
    promises[i] = promises[now - 1];
    promised.store(now - 1);
    return;
  }
}

void open_window(MPI_Win window, MPI_Comm comm) {
  PMPI_Win_set_attr(window, window_key, group_of(comm));
}

Group* group_of_window(MPI_Win window) {
  void* found = nullptr;
  int is_there = 0;
  PMPI_Win_get_attr(window, window_key, &found, &is_there);
  return is_there ? static_cast<Group*>(found) : &none;
}

}  // namespace headway::recorder

// The functions of own.def: groups of calls, and communicators as they come and go.
#include <stdlib.h>

#include "../file/clock.hpp"
#include "../file/hash.hpp"
#include "../file/writer.hpp"
#include "communicators.hpp"
#include "events.hpp"
#include "grouped.hpp"
#include "library.hpp"
#include "session.hpp"

namespace headway::recorder::nccl {
namespace {

using record_file::Record;

struct Held {
  Record record;
  Stream* stream;
};
struct Made {
  Comm* comm;
  std::uint32_t number;
  int size, rank;
};

// A list that lives as long as its thread, and does without what there is no memory for.
template <class T>
class List {
 public:
  bool add(const T& value) {
    if (count_ == room_) {
      const std::size_t room = room_ == 0 ? 64 : 2 * room_;
      void* grown = ::realloc(all_, sizeof(T) * room);
      if (grown == nullptr) return false;
      all_ = static_cast<T*>(grown);
      room_ = room;
    }
    all_[count_++] = value;
    return true;
  }
  T* begin() { return all_; }
  T* end() { return all_ + count_; }
  std::size_t size() const { return count_; }
  void clear() { count_ = 0; }

 private:
  T* all_ = nullptr;
  std::size_t count_ = 0, room_ = 0;
};

thread_local List<Held> held;
thread_local List<Made> made_meanwhile;

// The streams of a group's calls, with events around what the end of the group puts into them.
struct Marks {
  static constexpr int kMost = 64;
  struct One {
    Stream* stream;
    Marked marked;
  };
  One all[kMost];
  int count = 0;

  One* of(Stream* stream) {
    for (int i = 0; i < count; ++i) {
      if (all[i].stream == stream) return &all[i];
    }
    return nullptr;
  }
};

void mark_streams(Marks& marks) {
  for (const Held& call : held) {
    if (marks.of(call.stream) != nullptr) continue;
    if (marks.count == Marks::kMost) return;
    marks.all[marks.count++] = {call.stream, mark_begin(call.stream, takes_times(call.stream))};
  }
}

// The records of a stream: with the time between its events, which is of all of them together.
void put_of_stream(Marks::One& mark, List<Record>& of_stream) {
  if (of_stream.size() == 0) return;
  for (Record& record : of_stream) {
    if (mark.marked.captured) record.flags |= record_file::kCaptured;
    if (of_stream.size() > 1) record.flags |= record_file::kTogether;
  }
  if (mark.marked.pair != nullptr) {
    keep_until_passed(mark.marked.pair, of_stream.begin(), of_stream.size());
  } else {
    for (const Record& record : of_stream) put(record);
  }
}

void put_held(Marks& marks) {
  static thread_local List<Record> of_stream;
  for (int i = 0; i < marks.count; ++i) {
    of_stream.clear();
    for (const Held& call : held) {
      if (call.stream == marks.all[i].stream) of_stream.add(call.record);
    }
    put_of_stream(marks.all[i], of_stream);
  }
  for (const Held& call : held) {
    if (marks.of(call.stream) == nullptr) put(call.record);
  }
}

// The outermost end: NCCL puts all into the streams now.
template <class End>
Result end_group(End end) {
  Marks marks;
  mark_streams(marks);
  const Result result = end();
  const bool done = result == kSuccess;
  for (int i = 0; i < marks.count; ++i) {
    Marked& marked = marks.all[i].marked;
    if (marked.pair == nullptr) continue;
    if (!done) give_back(marked.pair);
    if (!done || !mark_end(marked.pair, marks.all[i].stream)) marked.pair = nullptr;
  }
  if (done || result == kInProgress) {
    put_held(marks);
    for (const Made& made : made_meanwhile) {
      add_group(*made.comm, made.number, made.size, made.rank);
    }
  }
  held.clear();
  made_meanwhile.clear();
  return result;
}

// A communicator that a call has made, or begun to make.
Result made(Result result, Comm* comm, std::uint32_t number, int size, int rank) {
  if ((result != kSuccess && result != kInProgress) || comm == nullptr) return result;
  if (*comm != nullptr) {
    add_group(*comm, number, size, rank);
  } else if (grouped.depth > 0) {
    made_meanwhile.add({comm, number, size, rank});
  }
  return result;
}

std::uint32_t number_of_id(const UniqueId* id) {
  return id == nullptr ? 0 : hash(kHashOfNothing<std::uint32_t>, id, sizeof *id);
}

}  // namespace

void hold(const Record& record, Stream* stream) {
  if (!held.add({record, stream})) put(record);
}

}  // namespace headway::recorder::nccl

using namespace headway::recorder::nccl;

#define VISIBLE extern "C" __attribute__((visibility("default")))
// What this NCCL does not have is misuse, as of every unknown function.
#define NEED(function) \
  if (library().function == nullptr) return kInvalidUsage

VISIBLE Result ncclGroupStart() {
  NEED(ncclGroupStart);
  const Inside inside;
  const Result result = library().ncclGroupStart();
  if (inside.watched() && result == kSuccess) ++grouped.depth;
  return result;
}

VISIBLE Result ncclGroupEnd() {
  NEED(ncclGroupEnd);
  const Inside inside;
  if (!inside.watched() || grouped.depth == 0) return library().ncclGroupEnd();
  if (--grouped.depth > 0) return library().ncclGroupEnd();
  return end_group([] { return library().ncclGroupEnd(); });
}

// Nothing of the group is run.
VISIBLE Result ncclGroupSimulateEnd(void* information) {
  NEED(ncclGroupSimulateEnd);
  const Inside inside;
  if (inside.watched() && grouped.depth > 0 && --grouped.depth == 0) {
    held.clear();
    made_meanwhile.clear();
  }
  return library().ncclGroupSimulateEnd(information);
}

VISIBLE Result ncclCommInitRank(Comm* comm, int ranks, UniqueId id, int rank) {
  NEED(ncclCommInitRank);
  const Inside inside;
  const Result result = library().ncclCommInitRank(comm, ranks, id, rank);
  return inside.watched() ? made(result, comm, number_of_id(&id), ranks, rank) : result;
}

VISIBLE Result ncclCommInitRankConfig(Comm* comm, int ranks, UniqueId id, int rank, void* config) {
  NEED(ncclCommInitRankConfig);
  const Inside inside;
  const Result result = library().ncclCommInitRankConfig(comm, ranks, id, rank, config);
  return inside.watched() ? made(result, comm, number_of_id(&id), ranks, rank) : result;
}

VISIBLE Result ncclCommInitRankScalable(Comm* comm, int ranks, int rank, int many, UniqueId* ids,
                                        void* config) {
  NEED(ncclCommInitRankScalable);
  const Inside inside;
  const std::uint32_t number = many > 0 ? number_of_id(ids) : 0;
  const Result result = library().ncclCommInitRankScalable(comm, ranks, rank, many, ids, config);
  return inside.watched() ? made(result, comm, number, ranks, rank) : result;
}

VISIBLE Result ncclCommInitAll(Comm* comms, int devices, const int* list) {
  NEED(ncclCommInitAll);
  const Inside inside;
  const Result result = library().ncclCommInitAll(comms, devices, list);
  if (!inside.watched() || result != kSuccess) return result;
  const std::uint32_t number = number_of_own();
  for (int i = 0; i < devices; ++i) made(result, comms + i, number, devices, i);
  return result;
}

VISIBLE Result ncclCommSplit(Comm comm, int color, int key, Comm* made_comm, void* config) {
  NEED(ncclCommSplit);
  const Inside inside;
  const Result result = library().ncclCommSplit(comm, color, key, made_comm, config);
  if (!inside.watched() || (result != kSuccess && result != kInProgress)) return result;
  // All ranks of the parent count it, those of no colour, too. The place by key is asked for later.
  Group* parent = group_of(comm);
  if (parent == nullptr) return result;
  return made(result, made_comm, number_of_next(*parent, 's', &color, sizeof color), 0, -1);
}

VISIBLE Result ncclCommShrink(Comm comm, int* excluded, int many, Comm* made_comm, void* config,
                              int flags) {
  NEED(ncclCommShrink);
  const Inside inside;
  const Result result = library().ncclCommShrink(comm, excluded, many, made_comm, config, flags);
  if (!inside.watched() || (result != kSuccess && result != kInProgress)) return result;
  Group* parent = group_of(comm);
  if (parent == nullptr || many < 0) return result;
  const std::size_t bytes = sizeof(int) * static_cast<std::size_t>(many);
  return made(result, made_comm, number_of_next(*parent, 'm', excluded, bytes), 0, -1);
}

// The ranks that were there know their group and of the new ones no more than how many; those know
// the id that one of the old ones made: the two are groups of two numbers, told apart in the file.
VISIBLE Result ncclCommGrow(Comm comm, int ranks, const UniqueId* id, int rank, Comm* made_comm,
                            void* config) {
  NEED(ncclCommGrow);
  const Inside inside;
  const Result result = library().ncclCommGrow(comm, ranks, id, rank, made_comm, config);
  if (!inside.watched() || (result != kSuccess && result != kInProgress)) return result;
  Group* parent = group_of(comm);
  const std::uint32_t number =
      parent == nullptr ? number_of_id(id) : number_of_next(*parent, 'g', &ranks, sizeof ranks);
  return made(result, made_comm, number, 0, -1);
}

// Between these and the end of the handle nothing is called on it.
#define ENDING(function)                      \
  VISIBLE Result function(Comm comm) {        \
    NEED(function);                           \
    const Inside inside;                      \
    if (inside.watched()) remove_group(comm); \
    return library().function(comm);          \
  }
ENDING(ncclCommDestroy)
ENDING(ncclCommAbort)

// What NCCL calls meanwhile is not the program's.
#define PASSED_ON(function, arguments, ...) \
  VISIBLE Result function(__VA_ARGS__) {    \
    NEED(function);                         \
    const Inside inside;                    \
    return library().function arguments;    \
  }
PASSED_ON(ncclCommFinalize, (comm), Comm comm)
PASSED_ON(ncclCommRevoke, (comm, flags), Comm comm, int flags)
PASSED_ON(ncclGetUniqueId, (id), UniqueId* id)
PASSED_ON(ncclCommGetUniqueId, (comm, id), Comm comm, UniqueId* id)
PASSED_ON(ncclRedOpCreatePreMulSum, (made_op, scalar, type, place, comm), Reduction* made_op,
          void* scalar, DataType type, int place, Comm comm)

// What one call moves, by its arguments.
#pragma once

#include <cstdint>

#include "../file/writer.hpp"
#include "groups.hpp"

namespace headway::recorder {

/// 1 + ElementType of a predefined type, and its bytes; 0 for others.
struct TypeNumber {
  std::uint8_t number = 0;
  std::uint8_t bytes = 0;
};
TypeNumber number_of(MPI_Datatype type);

inline std::uint64_t bytes_of(MPI_Datatype type) {
  if (const TypeNumber known = number_of(type); known.number != 0) return known.bytes;
  if (type == MPI_DATATYPE_NULL) return 0;
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return size < 0 ? 0 : static_cast<std::uint64_t>(size);
}

struct Shape {
  Group* group;
  std::uint64_t bytes = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int peer = 0;
  int tag = 0;
  std::uint32_t flags = 0;

  explicit Shape(Group* of) : group(of) {}
  explicit Shape(MPI_Comm comm) : group(group_of(comm)) {}

  /// A root, or the other end. MPI_PROC_NULL: nothing is moved. Others below 0 stand for none.
  Shape at(int rank) const {
    Shape out = *this;
    out.peer = rank;
    if (rank >= 0) out.flags |= record_file::kPeer;
    if (rank == MPI_PROC_NULL) out.bytes = 0;
    return out;
  }
  Shape with(int rank, int of_message) const {
    Shape out = at(rank);
    out.tag = of_message;
    if (of_message >= 0) out.flags |= record_file::kTag;
    return out;
  }
};

template <class Count>
Shape sized(Group* group, Count count, MPI_Datatype type, std::uint64_t times) {
  Shape out(group);
  out.type = type;
  if (count > 0) out.bytes = static_cast<std::uint64_t>(count) * bytes_of(type) * times;
  return out;
}

/// The bytes of a buffer.
template <class Count>
Shape whole(MPI_Comm comm, Count count, MPI_Datatype type) {
  return sized(group_of(comm), count, type, 1);
}

/// One part of so many for every rank.
template <class Count>
Shape parts(MPI_Comm comm, Count count, MPI_Datatype type) {
  Group* group = group_of(comm);
  return sized(group, count, type, static_cast<std::uint64_t>(group->others));
}

/// One rank's part, of which the others know nothing.
template <class Count>
Shape part(MPI_Comm comm, Count count, MPI_Datatype type) {
  Shape out = whole(comm, count, type);
  out.flags |= record_file::kPart;
  return out;
}

template <class Count>
std::uint64_t sum_of(const Count* counts, int many) {
  std::uint64_t sum = 0;
  for (int i = 0; i < many; ++i) sum += counts[i] > 0 ? static_cast<std::uint64_t>(counts[i]) : 0;
  return sum;
}

/// Parts of different counts.
template <class Count>
Shape sum(MPI_Comm comm, const Count* counts, MPI_Datatype type) {
  Group* group = group_of(comm);
  return sized(group, sum_of(counts, group->others), type, 1);
}

template <class Count>
Shape sum_of_each(Group* group, const Count* counts, const MPI_Datatype* types, int many) {
  Shape out(group);
  for (int i = 0; i < many; ++i) {
    if (counts[i] > 0) out.bytes += static_cast<std::uint64_t>(counts[i]) * bytes_of(types[i]);
  }
  if (many > 0) out.type = types[0];
  return out;
}

/// Parts of different counts and types.
template <class Count>
Shape sum_of_each(MPI_Comm comm, const Count* counts, const MPI_Datatype* types) {
  Group* group = group_of(comm);
  return sum_of_each(group, counts, types, group->others);
}

/// What goes to all neighbours: one part each.
template <class Count>
Shape to_neighbours(MPI_Comm comm, Count count, MPI_Datatype type) {
  Group* group = group_of(comm);
  return sized(group, count, type, static_cast<std::uint64_t>(group->out_neighbours));
}
template <class Count>
Shape sum_to_neighbours(MPI_Comm comm, const Count* counts, MPI_Datatype type) {
  Group* group = group_of(comm);
  return sized(group, sum_of(counts, group->out_neighbours), type, 1);
}
template <class Count>
Shape sum_of_each_to_neighbours(MPI_Comm comm, const Count* counts, const MPI_Datatype* types) {
  Group* group = group_of(comm);
  return sum_of_each(group, counts, types, group->out_neighbours);
}

/// Of one-sided communication: what goes to or comes from the target.
template <class Count>
Shape through(MPI_Win window, Count count, MPI_Datatype type, int target) {
  return sized(group_of_window(window), count, type, 1).at(target);
}

inline bool in_place(const void* buffer) {
  return buffer == MPI_IN_PLACE;
}

inline bool is_root(MPI_Comm comm, int root) {
  return root == MPI_ROOT || group_of(comm)->rank == root;
}

/// Of messages: what was sent, and what may come; a status says then what came.
constexpr auto send = [](auto, auto count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return whole(comm, count, type).with(to, tag);
};
constexpr auto receive = send;

/// Of a file: what this rank reads or writes, as it asks for it. Files have no group.
constexpr auto in_file = [](auto, auto, auto count, MPI_Datatype type) {
  return sized(no_group(), count, type, 1);
};
constexpr auto in_file_at = [](auto, auto, auto, auto count, MPI_Datatype type) {
  return sized(no_group(), count, type, 1);
};

}  // namespace headway::recorder

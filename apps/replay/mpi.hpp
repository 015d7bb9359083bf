// Calls by MPI, in the forms that do not block.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulate/live/list.hpp"

namespace headway::replay {

/// Why MPI cannot make the calls of the list; empty where it can.
std::string not_by_mpi(const LiveList& list);

class MpiTransport {
 public:
  using Handle = std::int64_t;
  /// A communicator for each stream of each group of `list`, and one for its sends and receives.
  /// Called by all ranks of the list.
  MpiTransport(const LiveList& list, int rank);
  ~MpiTransport();
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  /// Begins a call of this rank, as all of its group do in the same order on its stream.
  Handle begin(const LiveItem& call);
  /// Whether it is done; then the handle is no more.
  bool done(Handle handle);
  /// The same at once, until it is done.
  void call(const LiveItem& call);
  /// All ranks of the group are ready; of all ranks. Not recorded.
  void meet(std::uint32_t group);
  void meet();

 private:
  struct Open {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<char> received;
  };
  struct Counts {
    std::vector<int> counts, places;
  };

  MPI_Comm communicator(const LiveItem& call) const;
  // The memory of a call: what comes has its own, what is sent is the same of all.
  std::vector<char> take(std::size_t bytes);
  std::size_t room_of(const LiveItem& call) const;
  void issue(const LiveItem& call, char* received, MPI_Request* request);
  const Counts& parts(std::int64_t elements, int ranks);

  std::map<std::pair<std::uint32_t, std::int32_t>, MPI_Comm> communicators_;
  std::map<std::uint32_t, MPI_Comm> of_group_;
  std::vector<char> sent_;
  std::vector<Open> open_;
  std::vector<Handle> free_;
  std::vector<std::vector<char>> kept_;  // memory for what comes
  std::map<std::pair<std::int64_t, int>, Counts> parts_;
};

}  // namespace headway::replay

// From MPI_Init to MPI_Finalize: when calls are recorded.
#pragma once

#include <atomic>

#include "mpi.hpp"

namespace headway::recorder {

extern std::atomic<bool> watching;  // between them, if this rank has a file
inline thread_local int depth = 0;  // of calls within calls

/// A call of the program's; calls that MPI or a tool makes meanwhile are not the program's.
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  bool watched() const { return depth == 1 && watching.load(std::memory_order_relaxed); }
};

/// Behind MPI_Init: agrees with the other ranks on where to write, and begins.
void begin_recording();
/// Before MPI_Finalize.
void end_recording();
/// Behind MPI_Session_init, for programs that never call MPI_Init: no rank waits for another, so
/// that each finds by itself where to write.
void begin_session(MPI_Session session);
/// Before MPI_Session_finalize.
void end_session();
/// Of the process, whoever ends it.
void leave_process();
/// Before MPI_Abort.
void write_before_abort();

}  // namespace headway::recorder

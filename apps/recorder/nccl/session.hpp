// When calls are recorded: from the first communicator that is used to the end of the process.
#pragma once

#include <atomic>
#include <cstdint>

namespace headway::recorder::nccl {

struct Group;
struct Stream;

enum class State : int {
  unasked,  // nobody asked for a recording, or it cannot be made, or it is over
  waiting,  // for the first communicator
  recording
};
extern std::atomic<State> state;
inline thread_local int depth = 0;  // of calls within calls

/// A call of the program's; calls that NCCL makes meanwhile are not the program's.
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  bool watched() const {
    return depth == 1 && state.load(std::memory_order_relaxed) != State::unasked;
  }
};

/// Says in the file who this process is in a group, and begins the file with the first one. The
/// group's size and rank are known; `device`: its number among the node's, -1: not known.
void tell_group(Group& group, int device);

/// Whether calls on the stream have times of the device.
bool takes_times(const Stream* stream);

}  // namespace headway::recorder::nccl

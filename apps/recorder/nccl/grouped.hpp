// Calls between ncclGroupStart and ncclGroupEnd, which NCCL puts into their streams together at the
// outermost end.
#pragma once

#include "communicators.hpp"
#include "trace/recording/record_file.hpp"

namespace headway::recorder::nccl {

/// Of one thread.
struct Grouped {
  int depth = 0;
};
inline thread_local Grouped grouped;

/// A call within the group, to be put into the file when it ends.
void hold(const record_file::Record& record, Stream* stream);

}  // namespace headway::recorder::nccl

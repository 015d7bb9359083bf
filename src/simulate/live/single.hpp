// The calls of lists one by one: to see what each takes with all of its ranks ready.
#pragma once

#include "simulate/live/list.hpp"

namespace headway {

/// [LIVE-4] Every call that differs in operation, group, bytes, type or ends once, each waited for
/// before the next; in one order for all ranks, so that none waits for another. `sizes`: besides,
/// each operation of each group with whole tensors of 256 B, 384 B, 512 B, 768 B ... up to twice
/// its largest, or 2 MiB: what a fit of a network needs.
LiveList single_calls(const LiveList& list, bool sizes);

/// Whether every single call of `of` is one of `list` as well, whatever group has its messages.
bool has_single_calls(const LiveList& list, const LiveList& of);

}  // namespace headway

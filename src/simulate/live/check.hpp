// Whether lists can be run to their end: on an abstract machine that takes no time.
#pragma once

#include "base/result.hpp"
#include "simulate/live/list.hpp"

namespace headway {

/// [LIVE-2] Why not; nothing where they can. Every call names a group of its rank, waits and
/// `after` earlier calls. On one stream of one group the calls of all its ranks are the same, in
/// the same order; every send has its receive, of the same bytes. No message is kept for who comes
/// late: a send is done when its receive is there.
Problems list_problems(const LiveList& list);

}  // namespace headway

// Work on many threads whose result does not depend on how many there are.
#pragma once

#include <cstddef>
#include <functional>

namespace headway {

/// Told how much of a piece of work is done; answers whether to go on. It is called by one thread
/// at a time and never with less than before.
using Progress = std::function<bool(std::size_t done, std::size_t of)>;

/// How many calls of for_each_index() run at the same time at most: `threads`, but no more than one
/// a core; 0: one a core.
std::size_t workers_of(int threads);

/// Calls body(i, worker) once for each i below `count`, on workers_of(threads) threads, beginning
/// in the order of i. `worker`, less than workers_of(threads), tells calls apart that run at the
/// same time, so that each may own a cache. False where `progress` stopped the work: some calls
/// were then not made. A thread takes `grain` calls at a time: 1 where each of them takes long.
bool for_each_index(std::size_t count, int threads,
                    const std::function<void(std::size_t i, std::size_t worker)>& body,
                    const Progress& progress = {}, std::size_t grain = 16);

}  // namespace headway

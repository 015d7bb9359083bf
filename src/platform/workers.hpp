// Threads, as parallel.hpp uses them: two files implement it, of which the build takes one.
#pragma once

#include <cstddef>
#include <functional>

namespace headway {

/// Threads that can work at the same time.
std::size_t cores();

/// Calls body(worker) `count` times, on so many threads where they are free: calls that run at the
/// same time have different workers, each less than `count`.
void on_workers(std::size_t count, const std::function<void(std::size_t worker)>& body);

}  // namespace headway

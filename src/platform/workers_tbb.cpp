// Threads of oneTBB: they are kept from one piece of work to the next.
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "platform/workers.hpp"

namespace headway {

std::size_t cores() {
  return static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
}

void on_workers(std::size_t count, const std::function<void(std::size_t)>& body) {
  tbb::task_arena arena(static_cast<int>(count));
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t i = range.begin(); i < range.end(); ++i) {
            body(static_cast<std::size_t>(tbb::this_task_arena::current_thread_index()));
          }
        },
        tbb::simple_partitioner());
  });
}

}  // namespace headway

#include "platform/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace headway {
namespace {

// Counts what is done and asks whether to go on.
class Count {
 public:
  Count(std::size_t of, const Progress& progress) : of_(of), progress_(progress) {}

  bool stopped() const { return stopped_; }

  void add(std::size_t done) {
    done_ += done;
    if (!progress_) return;
    // Whoever finds the door closed goes on working: the next to come tells of its work too.
    const std::unique_lock<std::mutex> lock(door_, std::try_to_lock);
    if (lock.owns_lock() && !progress_(done_, of_)) stopped_ = true;
  }

 private:
  std::size_t of_;
  const Progress& progress_;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex door_;
};

}  // namespace

std::size_t workers_of(int threads) {
  // No more than there are cores: oneTBB would refuse them, with a line on stderr.
  const int cores = tbb::this_task_arena::max_concurrency();
  return static_cast<std::size_t>(threads > 0 ? std::min(threads, cores) : cores);
}

bool for_each_index(std::size_t count, int threads,
                    const std::function<void(std::size_t, std::size_t)>& body,
                    const Progress& progress, std::size_t grain) {
  Count done(count, progress);
  tbb::task_arena arena(static_cast<int>(workers_of(threads)));
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count, grain),
        [&](const tbb::blocked_range<std::size_t>& range) {
          if (done.stopped()) return;
          const auto worker =
              static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
          for (std::size_t i = range.begin(); i < range.end(); ++i) body(i, worker);
          done.add(range.size());
        },
        tbb::simple_partitioner());
  });
  return !done.stopped();
}

bool for_each_in_order(std::size_t count, int threads,
                       const std::function<void(std::size_t, std::size_t)>& body,
                       const Progress& progress) {
  Count done(count, progress);
  std::atomic<std::size_t> next = 0;
  const std::size_t workers = std::min(workers_of(threads), count);
  for_each_index(
      workers, threads,
      [&](std::size_t, std::size_t worker) {
        for (std::size_t i = next++; i < count && !done.stopped(); i = next++) {
          body(i, worker);
          done.add(1);
        }
      },
      {}, 1);
  return !done.stopped();
}

}  // namespace headway

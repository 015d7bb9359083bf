#include "platform/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "platform/workers.hpp"

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
  return threads > 0 ? std::min(static_cast<std::size_t>(threads), cores()) : cores();
}

bool for_each_index(std::size_t count, int threads,
                    const std::function<void(std::size_t, std::size_t)>& body,
                    const Progress& progress, std::size_t grain) {
  Count done(count, progress);
  std::atomic<std::size_t> next = 0;
  const std::size_t pieces = (count + grain - 1) / grain;
  if (pieces == 0) return true;
  on_workers(std::min(workers_of(threads), pieces), [&](std::size_t worker) {
    for (std::size_t i = next++; i < pieces && !done.stopped(); i = next++) {
      const std::size_t begin = i * grain, end = std::min(count, begin + grain);
      for (std::size_t j = begin; j < end; ++j) body(j, worker);
      done.add(end - begin);
    }
  });
  return !done.stopped();
}

}  // namespace headway

// Threads of the standard library, made anew for each piece of work: for the thread sanitizer, to
// which oneTBB, not built under it, shows nothing of what it hands from thread to thread.
#include <algorithm>
#include <thread>
#include <vector>

#include "platform/workers.hpp"

namespace headway {

std::size_t cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

void on_workers(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::jthread> threads;
  for (std::size_t worker = 1; worker < count; ++worker) threads.emplace_back(body, worker);
  body(0);
}

}  // namespace headway

#include "work.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "object.hpp"

namespace headway::python {
namespace {

constexpr std::chrono::milliseconds kFirst(1), kLater(100);

// What the thread that works and the one that waits know of each other.
struct Shared {
  std::atomic<bool> stopped = false;
  std::atomic<std::size_t> done = 0, of = 0;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr failed;

  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, [this] { return ended; });
  }
};

// What Python has to say meanwhile: true where it raised.
bool raised(const Shared& shared, PyObject* told) {
  if (PyErr_CheckSignals() != 0) return true;
  if (told == Py_None || shared.of == 0) return false;
  PyObject* answer = PyObject_CallFunction(told, "KK", static_cast<unsigned long long>(shared.done),
                                           static_cast<unsigned long long>(shared.of));
  Py_XDECREF(answer);
  return answer == nullptr;
}

}  // namespace

void run_watched(const std::function<void(const Progress&)>& work, PyObject* told) {
  Shared shared;
  const Progress progress = [&](std::size_t done, std::size_t of) {
    shared.done = done;
    shared.of = of;
    return !shared.stopped;
  };
  std::thread worker([&] {
    try {
      work(progress);
    } catch (...) {
      shared.failed = std::current_exception();
    }
    const std::lock_guard lock(shared.mutex);
    shared.ended = true;
    shared.changed.notify_all();
  });
  bool has_raised = false;
  for (auto time = kFirst;; time = kLater) {  // what is done at once is not kept waiting
    bool ended;
    {
      const Released others;
      ended = shared.wait_for(time);
    }
    if (ended) break;
    if (!has_raised && raised(shared, told)) {
      has_raised = true;
      shared.stopped = true;
    }
  }
  worker.join();
  if (has_raised) throw Raised();
  if (shared.failed) std::rethrow_exception(shared.failed);
}

}  // namespace headway::python

// Values that are made once for each name and kept. Only for what is made from the data carried in
// the binary: it cannot change, so that nobody can tell a kept value from one made anew.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

namespace headway {

/// Any number of threads may ask at the same time. Names must come from a bounded set: nothing is
/// ever let go.
template <class T>
class Memo {
 public:
  /// The value kept for `name`; where there is none, make() makes it. The reference stays valid.
  template <class Make>
  const T& of(const std::string& name, Make&& make) {
    {
      const std::shared_lock lock(door_);
      if (const auto found = kept_.find(name); found != kept_.end()) return *found->second;
    }
    auto made = std::make_unique<const T>(make());  // by two threads at most twice, and alike
    const std::unique_lock lock(door_);
    return *kept_.try_emplace(name, std::move(made)).first->second;
  }

 private:
  std::shared_mutex door_;
  std::map<std::string, std::unique_ptr<const T>> kept_;
};

}  // namespace headway

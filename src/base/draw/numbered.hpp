// Each value once, by number: what the columns of a drawing hold.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace headway {

/// In the order in which they came.
template <class T>
class Numbered {
 public:
  std::int64_t number(const T& value) {
    const auto [at, is_new] = place_.try_emplace(value, all.size());
    if (is_new) all.push_back(value);
    return static_cast<std::int64_t>(at->second);
  }
  std::vector<T> all;

 private:
  std::map<T, std::size_t> place_;
};

}  // namespace headway

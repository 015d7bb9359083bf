// A value or the list of everything that is wrong with the input.
#pragma once

#include <utility>
#include <variant>

#include "base/problem.hpp"

namespace headway {

/// Either a T or at least one Problem. Functions that validate report all problems at once.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Problems problems) : state_(std::move(problems)) {}
  Result(Problem problem) : state_(Problems{std::move(problem)}) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  const T& value() const& { return std::get<T>(state_); }
  T& value() & { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Problems& problems() const { return std::get<Problems>(state_); }

 private:
  std::variant<T, Problems> state_;
};

/// Adds the problems of `from` to `to`.
inline void append(Problems& to, const Problems& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace headway

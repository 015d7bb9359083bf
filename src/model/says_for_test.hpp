// What the problems of a model say, for tests.
#pragma once

#include <algorithm>
#include <string>

#include "base/problem.hpp"
#include "model/model.hpp"

namespace headway {

inline bool says(const Result<Model>& model, const std::string& where, const std::string& what) {
  if (model.ok()) return false;
  return std::any_of(model.problems().begin(), model.problems().end(), [&](const Problem& problem) {
    return where_text(problem) == where && problem.message.find(what) != std::string::npos;
  });
}

}  // namespace headway

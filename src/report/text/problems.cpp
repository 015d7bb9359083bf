#include "report/problems.hpp"

#include "base/text.hpp"

namespace headway {
namespace {

std::string lines_of(const Problems& problems, const std::string& before) {
  std::string out;
  for (const Problem& problem : problems) {
    out += before + printable(where_text(problem), 300) + ": " + printable(problem.message, 2000) +
           "\n";
  }
  return out;
}

}  // namespace

std::string problems_text(const Problems& problems) {
  return lines_of(problems, "headway: ");
}

std::string warnings_text(const Problems& warnings) {
  return lines_of(warnings, "headway: warning: ");
}

}  // namespace headway

#include "report/problems.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace headway {
namespace {

// Of one file or request so many are told, the rest counted: a file of another kind has a problem
// in each of its members.
constexpr std::size_t kMostOfAPlace = 10;

std::string lines_of(const Problems& problems, const std::string& before) {
  std::string out;
  for (const Problem& problem : first_problems(problems)) {
    const std::string where = where_text(problem);
    out += before + (where.empty() ? "" : printable(where, 300) + ": ") +
           printable(problem.message, 2000) + "\n";
  }
  return out;
}

}  // namespace

Problems first_problems(const Problems& problems) {
  // A flag was written by hand: all of them are told.
  const auto counts = [](const Problem& problem) {
    return problem.place.kind != Place::Kind::argument || !problem.place.file.empty();
  };
  std::map<std::string, std::size_t> found, told;
  for (const Problem& problem : problems) found[problem.place.file] += counts(problem) ? 1 : 0;
  Problems out;
  for (const Problem& problem : problems) {
    const std::string& file = problem.place.file;
    const std::size_t all = found[file];
    const std::size_t here = counts(problem) ? ++told[file] : 0;
    // One more instead of "1 more".
    if (here <= kMostOfAPlace || all == kMostOfAPlace + 1) {
      out.push_back(problem);
    } else if (here == kMostOfAPlace + 1) {
      Problem more = problem;
      more.fields = {};
      more.place.line = 0;
      more.near = {};
      more.message = "and " + std::to_string(all - kMostOfAPlace) + " more problems";
      out.push_back(std::move(more));
    }
  }
  return out;
}

std::string problems_text(const Problems& problems) {
  return lines_of(problems, "headway: ");
}

std::string warnings_text(const Problems& warnings) {
  return lines_of(warnings, "headway: warning: ");
}

}  // namespace headway

// What must hold for a framework's configuration, whatever its bytes: it is read into fields that
// make a legal run, or there are problems, each with its place.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "launch/launch.hpp"

namespace headway::fuzz {

inline void check_problems(const Problems& problems) {
  if (problems.empty()) std::abort();
  for (const Problem& problem : problems) {
    if (where_text(problem).empty() || problem.message.empty()) std::abort();
  }
}

inline void check_launch(Launcher launcher, std::string_view text) {
  (void)launcher_of(text, "file");
  auto request = read_launch(text, "file", launcher);
  if (!request) {
    return check_problems(request.problems());
  }
  RunRequest fields = std::move(request.value().fields);
  fields.push_back({"cluster", "dgx-h100"});
  if (launcher == Launcher::deepspeed) fields.push_back({"model", "llama-2-7b"});
  const auto run = make_run(fields);
  if (!run) {
    return check_problems(run.problems());
  }
  // A legal run is written, or what cannot be is named.
  const auto files = launch_files(*run, launcher);
  if (!files) check_problems(files.problems());
}

}  // namespace headway::fuzz

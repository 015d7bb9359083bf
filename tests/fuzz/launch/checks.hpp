// What must hold for a framework's configuration, whatever its bytes: it is read into fields that
// make a legal run, or there are problems, each with its place.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "launch/launch.hpp"

namespace headway::fuzz {

inline void check_problems(const Problems& problems) {
  if (problems.empty()) std::abort();
  for (const Problem& problem : problems) {
    if (problem.where.empty() || problem.message.empty()) std::abort();
  }
}

inline int check_launch(const std::uint8_t* data, std::size_t size, Launcher launcher) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)launcher_of(text, "file");
  auto request = read_launch(text, "file", launcher);
  if (!request) {
    check_problems(request.problems());
    return 0;
  }
  RunRequest fields = std::move(request.value().fields);
  fields.push_back({"cluster", "dgx-h100", "--cluster"});
  if (launcher == Launcher::deepspeed) fields.push_back({"model", "llama-2-7b", "--model"});
  const auto run = make_run(fields);
  if (!run) {
    check_problems(run.problems());
    return 0;
  }
  // A legal run is written, or what cannot be is named.
  const auto files = launch_files(*run, launcher);
  if (!files) check_problems(files.problems());
  return 0;
}

}  // namespace headway::fuzz

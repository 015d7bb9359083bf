#include <algorithm>
#include <string_view>
#include <vector>

#include "api/commands.hpp"
#include "base/text.hpp"

namespace headway {

std::string argument_problem(const std::string& what, int argc, char** argv) {
  const std::vector<std::string> commands = {"predict", "plan",     "comms", "limits", "scale",
                                             "list",    "validate", "serve", "bench",  "calibrate"};
  const auto known = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (argc > 1 && argv[1][0] != '-' && !known(commands, argv[1])) {
    return "'" + printable(argv[1]) + "' is not a command" + suggestion(argv[1], commands);
  }
  if (argc > 2 && argv[1] == std::string_view("scale") && argv[2][0] != '-') {
    std::vector<std::string> subcommands = {"run", "published"};
    subcommands.insert(subcommands.end(), kSweepNames.begin(), kSweepNames.end());
    if (!known(subcommands, argv[2])) {
      return "'" + printable(argv[2]) + "' is not a command of scale" +
             suggestion(argv[2], subcommands);
    }
  }
  std::vector<std::string> flags = {
      // Of all commands.
      "--as-published",  "--blocks",        "--by",          "--collectives",
      "--compression",   "--corpus",        "--csv",         "--data",
      "--emit",          "--exhaustive",    "--explain",     "--fix",
      "--gpu",           "--gpus-per-node", "--headroom",    "--help",
      "--json",          "--loose-level",   "--objective",   "--output",
      "--plot",          "--preset",        "--quiet",       "--real",
      "--relax",         "--report",        "--rows",        "--sample-penalty",
      "--save",          "--sensitivity",   "--signature",   "--site-bandwidth",
      "--site-distance", "--sites",         "--small",       "--sparse",
      "--study",         "--submodels",     "--sync-every",  "--threads",
      "--top",           "--trace",         "--trace-steps", "--version",
      "--write",
  };
  for (const std::string& name : plan_counts()) flags.push_back("--max-" + name);
  for (const RunField& field : run_fields()) flags.push_back("--" + std::string(field.name));
  for (const RunField& field : scale_run_fields()) {
    flags.push_back("--" + std::string(field.name));
  }
  for (std::size_t axis = 0; axis < kSweepNames.size(); ++axis) {
    for (const RunField& field : scale_sweep_fields(static_cast<SweepAxis>(axis))) {
      flags.push_back("--" + std::string(field.name));
    }
  }
  std::string out = printable(what, 400);
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("--")) continue;
    argument = argument.substr(0, argument.find('='));
    if (known(flags, argument)) continue;
    const std::string near = nearest(argument, flags);
    if (!near.empty()) out += "; '" + printable(argument) + "': did you mean '" + near + "'?";
  }
  return out;
}

}  // namespace headway

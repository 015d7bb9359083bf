#include <string_view>
#include <vector>

#include "api/commands.hpp"
#include "base/text.hpp"

namespace headway {

std::string argument_problem(const std::string& what, int argc, char** argv) {
  std::vector<std::string> known = {"--json", "--quiet", "--threads", "--help", "--save"};
  for (const RunField& field : run_fields()) known.push_back("--" + std::string(field.name));
  std::string out = printable(what, 400);
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("--")) continue;
    argument = argument.substr(0, argument.find('='));
    bool is_known = false;
    for (const std::string& name : known) is_known = is_known || name == argument;
    if (is_known) continue;
    const std::string near = nearest(argument, known);
    if (!near.empty()) out += "; '" + printable(argument) + "': did you mean '" + near + "'?";
  }
  return out;
}

}  // namespace headway

#include "api/launch.hpp"

#include <algorithm>

#include "api/launch_parts.hpp"

namespace headway {
namespace {

bool is_megatron(std::string_view text) {
  constexpr std::string_view kTelling[] = {"--tensor-model-parallel-size", "--num-layers",
                                           "--hidden-size", "--micro-batch-size",
                                           "--pipeline-model-parallel-size"};
  return std::any_of(std::begin(kTelling), std::end(kTelling), [&](std::string_view option) {
    return text.find(option) != std::string_view::npos;
  });
}

}  // namespace

Result<std::vector<LaunchFile>> launch_files(const Run& run, Launcher launcher) {
  const auto index = static_cast<std::size_t>(launcher);
  if (run.job.framework != kLauncherFrameworks[index]) {
    return Problem{
        "--framework",
        "is " + std::string(kFrameworkNames[static_cast<std::size_t>(run.job.framework)]) +
            "; a configuration of " + std::string(kLauncherNames[index]) + " starts a run of " +
            std::string(kFrameworkNames[static_cast<std::size_t>(kLauncherFrameworks[index])])};
  }
  return launch::write_megatron(run);
}

std::optional<Launcher> launcher_of(std::string_view text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  if (const auto toml = parse_toml(text, file)) {
    // A file of bare "--name=value" lines is valid TOML, too.
    const auto& members = *toml->root.table();
    const bool arguments = std::any_of(members.begin(), members.end(), [](const auto& member) {
      return member.first.starts_with("--");
    });
    if (!arguments) return std::nullopt;
  }
  if (is_megatron(text)) return Launcher::megatron;
  return std::nullopt;
}

Result<LaunchRequest> read_launch(std::string_view text, const std::string& file,
                                  Launcher /*launcher*/) {
  return launch::read_megatron(text, file);
}

}  // namespace headway

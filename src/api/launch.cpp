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

bool is_deepspeed(const Node& root) {
  constexpr std::string_view kTelling[] = {"train_batch_size", "train_micro_batch_size_per_gpu",
                                           "gradient_accumulation_steps", "zero_optimization"};
  return std::any_of(std::begin(kTelling), std::end(kTelling),
                     [&](std::string_view name) { return root.find(name) != nullptr; });
}

// A line that begins the table of degrees.
bool is_nanotron(std::string_view text) {
  constexpr std::string_view kTelling = "parallelism:";
  for (std::size_t at = text.find(kTelling); at != std::string_view::npos;
       at = text.find(kTelling, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

// Tables that only torchtitan has; a run file has at most the table of its model.
bool is_torchtitan(const Node& root) {
  constexpr std::string_view kTelling[] = {"training", "parallelism", "activation_checkpoint"};
  return std::any_of(std::begin(kTelling), std::end(kTelling), [&](std::string_view name) {
    const Node* node = root.find(name);
    return node != nullptr && node->table() != nullptr;
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
  switch (launcher) {
    case Launcher::megatron:
      return launch::write_megatron(run);
    case Launcher::torchtitan:
      return launch::write_torchtitan(run);
    case Launcher::deepspeed:
      return launch::write_deepspeed(run);
    case Launcher::nanotron:
      return launch::write_nanotron(run);
  }
  return Problems{};
}

std::optional<Launcher> launcher_of(std::string_view text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  if (text[first] == '{') {
    const auto json = parse_json(text, file);
    if (json && is_deepspeed(json->root)) return Launcher::deepspeed;
    return std::nullopt;
  }
  if (is_nanotron(text)) return Launcher::nanotron;
  if (const auto toml = parse_toml(text, file)) {
    // A file of bare "--name=value" lines is valid TOML, too.
    const auto& members = *toml->root.table();
    const bool arguments = std::any_of(members.begin(), members.end(), [](const auto& member) {
      return member.first.starts_with("--");
    });
    if (!arguments) {
      if (is_torchtitan(toml->root)) return Launcher::torchtitan;
      return std::nullopt;
    }
  }
  if (is_megatron(text)) return Launcher::megatron;
  return std::nullopt;
}

Result<LaunchRequest> read_launch(std::string_view text, const std::string& file, Launcher launcher,
                                  std::int64_t accelerators) {
  switch (launcher) {
    case Launcher::megatron:
      return launch::read_megatron(text, file, accelerators);
    case Launcher::torchtitan:
      return launch::read_torchtitan(text, file, accelerators);
    case Launcher::deepspeed:
      return launch::read_deepspeed(text, file);
    case Launcher::nanotron:
      return launch::read_nanotron(text, file);
  }
  return LaunchRequest();
}

std::string launch_text(const std::vector<LaunchFile>& files) {
  if (files.size() == 1) return files[0].text;
  std::string out;
  for (const LaunchFile& file : files) out += "==> " + file.name + " <==\n" + file.text + "\n";
  return out;
}

}  // namespace headway

// The configuration that starts a run in a framework: written from a run, and read back into the
// fields of one. Which option stands for which field: docs/launch.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/run.hpp"

namespace headway {

enum class Launcher : std::uint8_t { megatron, torchtitan, deepspeed, nanotron };

struct LauncherRow {
  std::string_view name;
  std::string_view form;       // of its configuration
  std::string_view version;    // whose documented options are written
  std::string_view framework;  // that a run must be of to be written for it
};
/// In the order of Launcher.
constexpr std::array<LauncherRow, 4> kLaunchers = {{
    {"megatron", "Megatron-LM script", "Megatron-LM core 0.15.0", "megatron"},
    {"torchtitan", "torchtitan .toml", "torchtitan 0.2.2", "fsdp"},
    {"deepspeed", "DeepSpeed .json", "DeepSpeed 0.17", "deepspeed"},
    {"nanotron", "nanotron .yaml", "nanotron 0.4", "nanotron"},
}};
constexpr const LauncherRow& row_of(Launcher launcher) {
  return kLaunchers[static_cast<std::size_t>(launcher)];
}
std::vector<std::string> launcher_names();
/// Nothing for a name that is none.
std::optional<Launcher> launcher_named(std::string_view name);

/// One file of a configuration.
struct LaunchFile {
  std::string name;  // as frameworks' users call it: "ds_config.json"
  std::string text;
};

/// The files that start `run`, the main one first; or everything that the framework cannot express.
Result<std::vector<LaunchFile>> launch_files(const Run& run, Launcher launcher);

/// The files as text, under their names where there are several.
std::string launch_text(const std::vector<LaunchFile>& files);

/// A configuration as the fields of a run. Fields know their place in the file; the model, where
/// the file gives its shape, is a field with a document.
struct LaunchRequest {
  RunRequest fields;
  std::vector<std::string> notes;    // what was left out, and how was read what has no field
  Problems with_tensor_parallelism;  // where the run has a tensor degree above 1
  std::int64_t micro_batches = 0;    // of a step on each rank; 0: not stated
  double bucket = 0;                 // parameters of a bucket of gradients; 0: as by habit
  Where bucket_stated;               // which is a field once all that it hangs on is read
};

/// Adds the batch, or micro-batch, that the fields lack where `micro_batches` tells it. `fields`
/// are those of the file, overridden.
void settle_batch(std::int64_t micro_batches, RunRequest& fields);

/// The text of a file that a configuration names; nothing where there is none.
using LaunchOpener = std::function<std::optional<std::string>(const std::string& name)>;

/// Which framework's configuration `text` is, by its content; nothing for a run file of Headway's
/// own and all else.
std::optional<Launcher> launcher_of(std::string_view text, const std::string& file);

/// Reads a configuration, or several files as launch_text() writes them; `file` is shown in
/// messages. `accelerators`: on how many it runs, where the user says so; 0: as the file says, if
/// it does. `open`: for what a script names.
Result<LaunchRequest> read_launch(std::string_view text, const std::string& file, Launcher launcher,
                                  std::int64_t accelerators = 0, const LaunchOpener& open = {});

}  // namespace headway

// Arguments of Megatron-LM's pretrain_gpt.py. Internal to src/api.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/launch_parts.hpp"
#include "api/launch_shell.hpp"

namespace headway::launch {

/// One --name with the words behind it.
struct Argument {
  std::string name;  // with the dashes
  std::vector<ShellWord> values;
  int line = 0;
  bool launcher = false;  // of torchrun or srun
};

/// The arguments of the training command, the last of each name, and what stands round them.
struct MegatronArguments {
  std::vector<Argument> arguments;
  std::vector<std::string> notes;
  std::string file;
  std::int64_t accelerators = 0;  // of the launcher; 0: not stated
  int line = 1;                   // of the command
  bool checks_collectives = false;

  const Argument* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The first word behind the name; empty where there is none.
  std::string text(std::string_view name) const;
  std::optional<std::int64_t> count(std::string_view name) const;
  std::string where(const Argument& argument) const;
};

Result<MegatronArguments> megatron_arguments(std::string_view text, const std::string& file);

/// Whether the name is one that the readers below ask for.
bool changes_the_step(std::string_view name);
/// Known to change nothing that a step's time or memory depends on: data, logging, learning rate.
bool leaves_the_step_alone(std::string_view name);

/// The shape of the network as a model in Headway's own form.
GivenField megatron_model(const MegatronArguments& arguments, std::vector<std::string>& notes);
/// Layers of the stages as fields; a problem where they are spread as Headway cannot.
void read_pipeline(const MegatronArguments& arguments, RunRequest& fields, Problems& problems);

/// 1 and 0 of a pattern as "([0]*3+[1]*58)", or of a frequency: every n-th layer from the first.
std::optional<std::vector<int>> layer_pattern(std::string_view text, std::int64_t layers);
/// Decoder layers on each stage of a pipeline layout as "Et*3|(t|)*2L".
std::optional<std::vector<std::int64_t>> layers_of_layout(std::string_view text);

/// The words that state the network, for write_megatron.
using Words = std::vector<std::string>;
Words megatron_model_words(const Run& run, Refusals& refusals);

}  // namespace headway::launch

// Arguments of Megatron-LM's pretrain_gpt.py. Internal to src/launch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/options.hpp"
#include "launch/parts.hpp"
#include "launch/shell/shell.hpp"

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
  std::string program;            // "pretrain_gpt.py"; empty for bare arguments
  std::vector<ShellFile> files;   // that the script writes
  std::int64_t accelerators = 0;  // of the launcher; 0: not stated
  int line = 1;                   // of the command
  bool checks_collectives = false;

  const Argument* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The first word behind the name; empty where there is none.
  std::string text(std::string_view name) const;
  std::optional<std::int64_t> count(std::string_view name) const;
  Where where(const Argument& argument) const;
  /// The same for an option that may be absent.
  Where where(std::string_view name) const;
  /// The value as a degree, 1 where there is none; held within bounds.
  std::int64_t degree(std::string_view name) const;
  /// Whether DeepSpeed's engine runs the step (Megatron-DeepSpeed).
  bool deepspeed() const;
  /// Whether layers have experts: one expert is a dense layer.
  bool has_experts() const;
};

/// Whether a text holds its arguments in a table of YAML, and those.
bool is_argument_table(std::string_view text);
Result<MegatronArguments> arguments_in_table(std::string_view text, const std::string& file);

Result<MegatronArguments> megatron_arguments(std::string_view text, const std::string& file);

/// Adds fields, each with the place of the option that says it.
class ArgumentReader {
 public:
  ArgumentReader(const MegatronArguments& arguments, LaunchRequest& out, Problems& problems)
      : arguments_(arguments), out_(out), problems_(problems) {}

 protected:
  bool has(std::string_view option) const { return arguments_.has(option); }
  std::string text(std::string_view option) const { return arguments_.text(option); }
  std::int64_t degree(std::string_view option) const { return arguments_.degree(option); }
  void add(std::string_view field, std::string text, std::string_view option) {
    out_.fields.push_back({std::string(field), std::move(text), arguments_.where(option)});
  }
  void copy(std::string_view option, std::string_view field) {
    if (has(option)) add(field, text(option), option);
  }
  void fail(std::string_view option, std::string message, Trouble kind = Trouble::illegal) {
    problems_.push_back({arguments_.where(option), std::move(message), kind});
  }

  const MegatronArguments& arguments_;
  LaunchRequest& out_;
  Problems& problems_;
};

/// What the configuration of DeepSpeed says that a script names, without the fields that the
/// script's own options say.
LaunchRequest deepspeed_beside(const MegatronArguments& arguments, const LaunchOpener& open,
                               Problems& problems);
/// Adds the fields of the configuration beside a script; where both say one they must agree.
void join_deepspeed(LaunchRequest config, LaunchRequest& script, Problems& problems);
/// Recomputation and offloading, in the words of every release.
void read_recomputation(const MegatronArguments& arguments, LaunchRequest& out, Problems& problems);
/// Why the program of the command is none that these options describe; empty: it may be one.
std::string program_refused(const std::string& path);
/// Every option by the table, and those that change the step beside others only.
void judge_megatron(const MegatronArguments& arguments, LaunchRequest& out, Problems& problems);

/// The shape of the network as a model in Headway's own form.
GivenField megatron_model(const MegatronArguments& arguments, std::vector<std::string>& notes);
/// Rows of the embedding, by what the script says of vocabulary and tokenizer.
struct Vocabulary {
  std::int64_t tokens = 0;  // 0: only the tokenizer knows, or `text` is no number
  std::string text;
  std::string_view option;  // that says so
  std::string note;
};
Vocabulary vocabulary_of(const MegatronArguments& arguments);
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

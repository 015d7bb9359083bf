// From a script to the arguments of its training command.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "launch/megatron/megatron.hpp"

namespace headway::launch {
namespace {

bool is_flag(std::string_view word) {
  return word.size() > 2 && word.starts_with("--");
}

// A word of the kind "torchrun ... --num-layers 24": a whole command in quotes.
bool holds_a_command(std::string_view word) {
  return word.find(" --") != std::string_view::npos;
}

ShellCommand flattened(const ShellCommand& command) {
  ShellCommand out;
  for (const ShellWord& word : command) {
    if (!holds_a_command(word.text)) {
      out.push_back(word);
      continue;
    }
    std::string_view rest = word.text;
    while (!rest.empty()) {
      const std::size_t begin = rest.find_first_not_of(" \t\r\n");
      if (begin == std::string_view::npos) break;
      rest.remove_prefix(begin);
      const std::size_t end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
      if (rest.substr(0, end) != "\\") out.push_back({std::string(rest.substr(0, end)), word.line});
      rest.remove_prefix(end);
    }
  }
  return out;
}

// The program that a command runs: a file, or torchrun's --module.
ShellCommand::const_iterator program_of(const ShellCommand& command) {
  const auto file = std::find_if(command.begin(), command.end(),
                                 [](const ShellWord& word) { return word.text.ends_with(".py"); });
  if (file != command.end()) return file;
  const auto module = std::find_if(command.begin(), command.end(),
                                   [](const ShellWord& word) { return word.text == "--module"; });
  return module == command.end() || module + 1 == command.end() ? command.end() : module + 1;
}

std::string name_of_program(const std::string& word) {
  return word.ends_with(".py") ? word : word + ".py";
}

// The words of launchers with one dash, in full.
std::string in_full(const std::string& word) {
  return word == "-N" ? "--nodes" : word == "-n" || word == "-np" ? "--ntasks" : word;
}

// What stands before the program is its launcher's.
std::vector<Argument> arguments_of(const ShellCommand& command) {
  const auto program = program_of(command);
  std::vector<Argument> out;
  for (auto at = command.begin(); at != command.end(); ++at) {
    const bool launches = program == command.end() || at < program;
    const ShellWord word = {launches ? in_full(at->text) : at->text, at->line};
    if (!is_flag(word.text)) {
      if (!out.empty()) out.back().values.push_back(word);
      continue;
    }
    const std::size_t equals = word.text.find('=');
    Argument argument{
        word.text.substr(0, equals), {}, word.line, program != command.end() && at < program};
    std::replace(argument.name.begin(), argument.name.end(), '_', '-');
    argument.name = option_table(Launcher::megatron).today(std::move(argument.name));
    if (equals != std::string::npos) {
      argument.values.push_back({word.text.substr(equals + 1), word.line});
    }
    out.push_back(std::move(argument));
  }
  return out;
}

// How many nodes, or ranks on each, the flags of torchrun, deepspeed, srun or #SBATCH lines state;
// 0: none of `names` states a number.
std::int64_t stated(const std::vector<Argument>& flags,
                    std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const Argument& flag : flags) {
      if (flag.name != name || flag.values.empty()) continue;
      const std::string& text = flag.values[0].text;  // "8", "gpu:8", "gpu:h100:8"
      const std::size_t colon = text.rfind(':');
      const auto number =
          whole_number(colon == std::string::npos ? text : text.substr(colon + 1)).value_or(0);
      if (number > 0 && number <= 1'000'000) return number;
    }
  }
  return 0;
}

// Whether one of `names` is there, whatever it states.
bool names_one(const std::vector<Argument>& flags, std::initializer_list<std::string_view> names) {
  return std::any_of(flags.begin(), flags.end(), [&](const Argument& flag) {
    return std::find(names.begin(), names.end(), flag.name) != names.end();
  });
}

// Accelerators from the command's launcher; what it leaves to the queue from the job's lines. 0:
// they are not stated, or by what only the running shell knows ("--nnodes $3", a file of hosts).
std::int64_t accelerators_of(const std::vector<Argument>& command,
                             const std::vector<Argument>& job) {
  const auto count = [&](std::initializer_list<std::string_view> names) {
    const std::int64_t own = stated(command, names);
    return own > 0 ? own : stated(job, names);
  };
  // A launcher starts a process on each accelerator, the queue none or the launcher.
  std::int64_t each = stated(command, {"--nproc-per-node", "--num-gpus"});
  if (each == 0) each = count({"--gpus-per-node", "--gres"});
  if (each == 0) each = count({"--ntasks-per-node"});
  const std::int64_t nodes = count({"--nnodes", "--num-nodes", "--nodes"});
  if (each == 0) return count({"--ntasks"});
  if (nodes == 0 &&
      names_one(command, {"--nnodes", "--num-nodes", "--nodes", "--hostfile", "--ntasks"})) {
    return stated(command, {"--ntasks"});
  }
  return std::max<std::int64_t>(1, nodes) * each;
}

}  // namespace

const Argument* MegatronArguments::find(std::string_view name) const {
  for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

std::string MegatronArguments::text(std::string_view name) const {
  const Argument* found = find(name);
  return found == nullptr || found->values.empty() ? std::string() : found->values[0].text;
}

std::optional<std::int64_t> MegatronArguments::count(std::string_view name) const {
  return whole_number(text(name));
}

Where MegatronArguments::where(const Argument& argument) const {
  return {file, argument.line, FieldName(printable(argument.name))};
}

Where MegatronArguments::where(std::string_view name) const {
  const Argument* found = find(name);
  return found != nullptr ? where(*found) : Where(file, line, FieldName(name, "(absent)"));
}

std::int64_t MegatronArguments::degree(std::string_view name) const {
  return std::clamp<std::int64_t>(count(name).value_or(1), 1, 1'000'000);
}

bool MegatronArguments::deepspeed() const {
  return has("--deepspeed") || has("--deepspeed-config") || has("--zero-stage") ||
         has("--ds-sequence-parallel-size");
}

bool MegatronArguments::has_experts() const {
  const std::string count = text("--num-experts");
  return !count.empty() && count != "0" && count != "1" && count != "None";
}

Result<MegatronArguments> megatron_arguments(std::string_view text, const std::string& file) {
  if (is_argument_table(text)) return arguments_in_table(text, file);
  const auto script = read_shell(text, file);
  if (!script) return script.problems();
  // The command with the most arguments that matter; a file of bare arguments is one command.
  ShellCommand bare;
  std::vector<ShellCommand> commands;
  for (const ShellCommand& command : script->commands) {
    if (command[0].text == "echo" || command[0].text == "printf") continue;
    if (is_flag(command[0].text)) {
      bare.insert(bare.end(), command.begin(), command.end());
    } else {
      commands.push_back(flattened(command));
    }
  }
  if (!bare.empty()) commands.push_back(std::move(bare));
  MegatronArguments out;
  std::ptrdiff_t most = 0;
  for (const ShellCommand& command : commands) {
    std::vector<Argument> arguments = arguments_of(command);
    const auto known =
        std::count_if(arguments.begin(), arguments.end(), [](const Argument& argument) {
          return option_table(Launcher::megatron).reads(argument.name);
        });
    if (known == 0 || known < most) continue;
    most = known;
    out.arguments = std::move(arguments);
    out.line = command[0].line;
    const auto program = program_of(command);
    out.program = program == command.end() ? "" : name_of_program(program->text);
  }
  if (most == 0)
    return Problem{file, "holds no command with arguments of Megatron-LM", Trouble::missing};
  out.file = file;
  out.files = script->files;
  out.accelerators = accelerators_of(out.arguments, arguments_of(script->batch));
  if (script->branch_line > 0) {
    out.notes.push_back(
        file + ":" + std::to_string(script->branch_line) +
        ": what only the running shell decides is not evaluated; every line of such "
        "conditions and loops is read once");
  }
  const auto debug = script->settings.find("TORCH_DISTRIBUTED_DEBUG");
  out.checks_collectives = debug != script->settings.end() && debug->second == "DETAIL";
  return out;
}

}  // namespace headway::launch

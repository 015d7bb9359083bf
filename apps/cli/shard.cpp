#include "shard.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "api/shard/file.hpp"
#include "base/random/digest.hpp"
#include "base/text.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"

using namespace headway;

namespace {

// What a command writes beside its answer: that of a part is none, and a file that comes from
// elsewhere is not trusted with the names of others. `merge` is told of them anew.
constexpr std::array<std::string_view, 4> kWritten = {"csv", "plot", "rows", "save"};

// The arguments without those that say which part, and how to work.
std::vector<std::string> of_request(std::span<const char* const> given) {
  std::vector<std::string> out;
  while (!given.empty()) {
    const std::string_view word = given.front();
    std::size_t left_out = std::max(part_flag(given).words, mpi_words(given));
    if (word == "--threads") left_out = std::min<std::size_t>(2, given.size());
    if (word == "--quiet" || word.starts_with("--threads=")) left_out = 1;
    if (left_out == 0) out.emplace_back(word);
    given = given.subspan(std::max<std::size_t>(1, left_out));
  }
  return out;
}

// Options of the command that write a file, and were given.
Problems written_by(const Command& command) {
  Problems out;
  for (const Option& option : command.options) {
    const auto* path = std::get_if<std::string*>(&option.target);
    if (option.door != Door::command_line || path == nullptr || (*path)->empty()) continue;
    const bool merged = std::find(kWritten.begin(), kWritten.end(), option.name) != kWritten.end();
    if (!merged && option.name != "report") continue;
    const std::string name(option.name);
    out.push_back({FieldName(name), merged ? "is written of all parts: headway merge FILES --" +
                                                 name + " " + std::string(option.value)
                                           : "renews pages of the whole work, which has no parts"});
  }
  return out;
}

// What is wrong with arguments that come from a file, before anything is made of them.
Problems argument_problems(const std::vector<std::string>& arguments, const std::string& name) {
  const auto ends_early = [](const std::string& argument) {
    return argument == "-h" || argument == "--help" || argument == "--version" || argument == "-";
  };
  if (arguments.empty() || arguments.front().starts_with('-') ||
      std::any_of(arguments.begin(), arguments.end(), ends_early)) {
    return {{name, "holds no request of a command", Trouble::malformed}};
  }
  return {};
}

// Files that the parts read, and are not the same here.
Problems changed_files(const ShardFile& file) {
  Problems out;
  for (const auto& [path, digest] : file.files) {
    const auto text = read_file(path);
    if (!text) {
      append(out, text.problems());
    } else if (digest_text(*text) != digest) {
      out.push_back({printable(path, 4096), "is not what the parts read"});
    }
  }
  return out;
}

struct MergeRequest {
  std::vector<std::string> files;
  std::string output;
  std::array<std::string, kWritten.size()> written;
};

Result<std::vector<NamedShardFile>> read_all(const std::vector<std::string>& paths) {
  std::vector<NamedShardFile> out;
  Problems problems;
  for (const std::string& path : paths) {
    const auto text = read_file(path, kLargestShardFile);
    if (!text) {
      append(problems, text.problems());
      continue;
    }
    const std::string name = printable(path, 4096);
    auto file = read_shard_file(*text, name);
    if (!file) {
      append(problems, file.problems());
    } else {
      out.push_back({name, std::move(file).value()});
    }
  }
  if (!problems.empty()) return problems;
  return out;
}

// The command of the parts, asked anew with what they came to.
CommandOutput answer_of(const ShardFile& file, const std::string& name,
                        const std::vector<PartLines>& parts, const MergeRequest& request,
                        const Circumstances& at, const std::vector<CommandRow>& rows,
                        const std::string& version) {
  if (Problems problems = argument_problems(file.arguments, name); !problems.empty()) {
    return {.problems = std::move(problems)};
  }
  std::vector<const char*> words = {"headway"};
  for (const std::string& argument : file.arguments) words.push_back(argument.c_str());
  const Arguments asked =
      read_arguments(rows, version, static_cast<int>(words.size()), words.data());
  if (!asked.command || !asked.command->divides) {
    return {
        .problems = {{name, "holds no request of a command that has parts", Trouble::malformed}}};
  }
  Problems problems = written_by(*asked.command);
  if (!problems.empty()) return {.problems = std::move(problems)};
  if (problems = changed_files(file); !problems.empty()) return {.problems = std::move(problems)};
  for (std::size_t i = 0; i < kWritten.size(); ++i) {
    if (request.written[i].empty()) continue;
    const auto& options = asked.command->options;
    const auto option = std::find_if(options.begin(), options.end(), [&](const Option& each) {
      return each.name == kWritten[i] && each.door == Door::command_line;
    });
    if (option == options.end()) {
      problems.push_back({FieldName(kWritten[i]),
                          "is nothing that headway " + std::string(asked.command->name) + " has"});
    } else {
      *std::get<std::string*>(option->target) = request.written[i];
    }
  }
  if (!problems.empty()) return {.problems = std::move(problems)};
  Circumstances circumstances = asked.circumstances;
  circumstances.json = circumstances.json || at.json;
  circumstances.threads = at.threads;
  circumstances.date = at.date;
  circumstances.division = {.parts = &parts};
  return asked.command->run(circumstances);
}

CommandOutput merge(const MergeRequest& request, const Circumstances& at,
                    const std::vector<CommandRow>& rows, const std::string& version) {
  const auto files = read_all(request.files);
  if (!files) return {.problems = files.problems()};
  const auto parts = all_parts(*files);
  if (!parts) return {.problems = parts.problems()};
  const auto& [name, first] = files->front();
  if (first.version != version || first.data != embedded_digest()) {
    return {.problems = {{name, "is of headway " + printable(first.version) +
                                    (first.version == version ? " with other data" : "") +
                                    ": merge parts with the program that made them"}}};
  }
  CommandOutput out = answer_of(first, name, *parts, request, at, rows, version);
  if (!out.problems.empty() || request.output.empty()) return out;
  Problems problems = write_files({{request.output, out.text}});
  if (!problems.empty()) return {.problems = std::move(problems)};
  out.text.clear();
  return out;
}

}  // namespace

Problems of_another_request(const ShardFile& file, const std::string& name,
                            std::span<const char* const> given, const std::string& version) {
  const std::string shown = printable(name, 4096);
  if (file.version != version || file.data != embedded_digest()) {
    return {{shown, "is of headway " + printable(file.version) +
                        (file.version == version ? " with other data" : "")}};
  }
  if (file.arguments != of_request(given)) {
    return {{shown, "is of another request: " + printable(join(file.arguments, " "), 400)}};
  }
  return changed_files(file);
}

Result<ShardFile> worked_out(const Arguments& asked, std::span<const char* const> given,
                             const std::string& version, const Shard& shard,
                             const std::vector<PartLines>& known, std::shared_ptr<void>& shared,
                             Problems& warnings) {
  ShardFile file{.version = version,
                 .data = embedded_digest(),
                 .arguments = of_request(given),
                 .files = {},
                 .shard = shard,
                 .found = {}};
  if (shared == nullptr) remember_files();  // the parts after the first read some no more
  Circumstances circumstances = asked.circumstances;
  circumstances.begun = {};
  circumstances.division = {.only = shard, .into = &file.found, .parts = &known, .shared = &shared};
  CommandOutput out = asked.command->run(circumstances);
  if (!out.problems.empty()) return out.problems;
  file.files = remembered_files();
  warnings = std::move(out.warnings);
  return file;
}

CommandOutput run_shard(const Arguments& asked, std::span<const char* const> given,
                        const std::string& version) {
  const auto shard = shard_from(asked.circumstances.shard);
  Problems problems = written_by(*asked.command);
  if (!shard) append(problems, shard.problems());
  if (std::find(given.begin(), given.end(), std::string_view("-")) != given.end()) {
    problems.push_back(
        {FieldName("shard"),
         "needs files with a name: the standard input is gone when parts are merged"});
  }
  if (!problems.empty()) return {.problems = std::move(problems)};
  Problems warnings;
  std::shared_ptr<void> shared;
  const auto file = worked_out(asked, given, version, *shard, {}, shared, warnings);
  if (!file) return {.problems = file.problems()};
  return {.text = shard_file_text(*file), .warnings = std::move(warnings)};
}

Command merge_command(std::function<std::vector<CommandRow>()> rows, const std::string& version) {
  auto request = std::make_shared<MergeRequest>();
  Command out{
      .name = "merge",
      .help = "what a command says whose parts were worked out with --shard I/N",
      .examples =
          {"headway plan --model llama-2-7b --cluster dgx-h100 --gpus 16 --seq 4096 \\\n    "
           "--global-batch 64 --shard 1/1 >part.json\n  headway merge part.json"},
      .door = Door::command_line};
  out.options = {{.help = "the files of all parts, in any order",
                  .target = &request->files,
                  .door = Door::command_line,
                  .required = true,
                  .operand = "FILES"},
                 {.name = "output",
                  .value = "FILE",
                  .help = "write the answer to this file, not to stdout",
                  .target = &request->output,
                  .door = Door::command_line,
                  .letter = 'o'}};
  for (std::size_t i = 0; i < kWritten.size(); ++i) {
    out.options.push_back({.name = kWritten[i],
                           .value = kWritten[i] == "plot" ? "DIR" : "FILE",
                           .help = "what the command writes where it is told so",
                           .target = &request->written[i],
                           .door = Door::command_line});
  }
  out.run = [request, rows = std::move(rows), version](const Circumstances& at) {
    return merge(*request, at, rows(), version);
  };
  return out;
}

// The command line: reads arguments, asks the library, prints. No formula stands here.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../server/serve.hpp"
#include "api/command.hpp"
#include "arguments/arguments.hpp"
#include "arguments/manual.hpp"
#include "base/columns.hpp"
#ifdef HEADWAY_MPI
#include "mpi.hpp"
#endif
#include "progress.hpp"
#include "record.hpp"
#include "replay.hpp"
#include "shard.hpp"
#include "terminal.hpp"

namespace {

using headway::Command;
using headway::CommandOutput;
using headway::CommandRow;
using headway::Range;

Command serve() {
  auto options = std::make_shared<headway::ServeOptions>();
  return {
      .name = "serve",
      .help = "the page and the API on a port of this machine",
      .examples = {"headway serve --port 8080"},
      .options = {{.name = "port",
                   .help = "default: 8080; 0: any free one",
                   .target = &options->port,
                   .range = Range{0, 65535},
                   .checked = true},
                  {.name = "host",
                   .value = "ADDRESS",
                   .help = "address to listen on; default: 127.0.0.1, which only this machine "
                           "reaches",
                   .target = &options->site.host},
                  {.name = "data",
                   .value = "DIR",
                   .help = "folder with measurements/, for validate; default: those built in",
                   .target = &options->site.data},
                  {.name = "page",
                   .value = "DIR",
                   .help = "serve the page of this folder, not the built-in one",
                   .target = &options->site.page},
                  {.name = "threads",
                   .help = "threads for one piece of long work; default: all cores",
                   .target = &options->site.threads,
                   .range = Range{0, 1024},
                   .checked = true},
                  {.name = "quiet", .help = "do not print the address", .target = &options->quiet}},
      .run = [options](const headway::Circumstances&) -> CommandOutput {
        return {.exit_code = headway::serve(*options)};
      },
      .door = headway::Door::command_line,
      .answers = false};
}

Command record() {
  auto options = std::make_shared<headway::RecordOptions>();
  return {
      .name = "record",
      .help =
          "run a program that communicates by MPI, NCCL or torch.distributed, and record what "
          "it sends",
      .examples = {"headway record -o recording -- mpirun -np 4 ./train"},
      .options = {{.name = "output",
                   .value = "DIR",
                   .help = "folder for the recording, made or empty; default: recording",
                   .target = &options->output,
                   .letter = 'o'},
                  {.name = "steps",
                   .value = "A..B",
                   .help = "only these steps, as the program marks them (headway/record.h)",
                   .target = &options->steps},
                  {.name = "min-bytes",
                   .value = "SIZE",
                   .help = "leave out smaller calls, as \"4 KiB\"",
                   .target = &options->min_bytes},
                  {.name = "ops",
                   .value = "LIST",
                   .help = "only these, as all_reduce,send; wait: what waits for others",
                   .target = &options->operations},
                  {.name = "rotate",
                   .value = "SIZE",
                   .help = "begin another file of a rank where one is as large, as \"1 GB\"",
                   .target = &options->rotate},
                  {.name = "mpi",
                   .value = "LEVEL",
                   .help = "functions that its MPI has: 3, 4, 4c (with wide counts); default: as "
                           "its launcher says, else 3",
                   .target = &options->mpi},
                  {.name = "nccl",
                   .value = "HOW",
                   .help = "NCCL and RCCL: calls (a library before theirs), plugin (one that NCCL "
                           "loads), off; default: calls",
                   .target = &options->nccl},
                  {.name = "device-times",
                   .value = "on|off",
                   .help = "of NCCL's calls by the device's clock; default: on, with --nccl plugin "
                           "off",
                   .target = &options->device_times},
                  {.name = "step-range",
                   .value = "NAME",
                   .help = "a range or mark of NVTX of this name begins a step",
                   .target = &options->step_range},
                  {.name = "quiet",
                   .help = "do not say where the recording is",
                   .target = &options->quiet},
                  {.help = "what to run, with its arguments: behind --",
                   .target = &options->program,
                   .required = true,
                   .operand = "PROGRAM"}},
      .run = [options](const headway::Circumstances&) -> CommandOutput {
        const auto code = headway::record(*options);
        if (!code) return {.problems = code.problems()};
        return {.exit_code = *code};
      },
      .door = headway::Door::command_line,
      .answers = false};
}

std::vector<CommandRow> all_commands();

Command help() {
  auto words = std::make_shared<std::vector<std::string>>();
  auto manual = std::make_shared<bool>(false);
  return {.name = "help",
          .help = "what a command does and takes",
          .examples = {"headway help predict"},
          .options = {{.help = "one to tell of, as: scale weak",
                       .target = words.get(),
                       .operand = "COMMAND"},
                      {.name = "man",
                       .help = "the manual page of all commands: headway help --man | man -l -",
                       .target = manual.get()}},
          .run = [words, manual](const headway::Circumstances&) -> CommandOutput {
            if (*manual) return {.text = headway::manual(all_commands(), HEADWAY_VERSION)};
            auto text = headway::help_text(all_commands(), HEADWAY_VERSION, *words);
            if (!text) return {.problems = text.problems()};
            return {.text = std::move(text).value()};
          },
          .door = headway::Door::command_line,
          .answers = false};
}

Command version() {
  return {.name = "version",
          .help = "the version of this program",
          .examples = {"headway version"},
          .run = [](const headway::Circumstances&) -> CommandOutput {
            return {.text = std::string("headway ") + HEADWAY_VERSION + "\n"};
          },
          .door = headway::Door::command_line,
          .answers = false};
}

// The commands of the library, and those that only a program has.
std::vector<CommandRow> all_commands() {
  const auto library = headway::command_rows();
  std::vector<CommandRow> out(library.begin(), library.end());
  out.push_back({"serve", serve});
  out.push_back({"record", record});
  out.push_back({"replay", [] { return headway::replay_command(headway::replay_starter()); }});
  out.push_back({"merge", [] { return merge_command(all_commands, HEADWAY_VERSION); }});
  out.push_back({"completion", [] { return headway::completion(all_commands()); }});
  out.push_back({"help", help});
  out.push_back({"version", version});
  return out;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

int print(const CommandOutput& output) {
  if (!output.problems.empty()) {
    std::fputs(headway::problems_text(output.problems).c_str(), stderr);
    return 2;
  }
  std::fputs(headway::warnings_text(output.warnings).c_str(), stderr);
  std::fputs(output.text.c_str(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("headway: stdout: cannot be written\n", stderr);
    return 2;
  }
  return output.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  // What is asked: a command with its request.
  headway::Arguments asked = headway::read_arguments(all_commands(), HEADWAY_VERSION, argc, argv);
  if (!asked.command) return asked.exit_code;

  // What stands for a file is read once; text is as wide as the terminal.
  const auto is = [](std::string_view text) {
    return [text](const char* word) { return word == text; };
  };
  char** const end = std::find_if(argv + 1, argv + argc, is("--"));  // what follows is another's
  const bool reads_input = std::any_of(argv + 1, end, is("-"));
  if (reads_input && !headway::keep_standard_input()) {
    std::fputs("headway: -: the standard input cannot be kept\n", stderr);
    return 2;
  }
  const headway::TextColumns wide(headway::terminal_columns());

  // Its answer. While it works a line of progress stands on the terminal, and Ctrl-C stops it.
  asked.circumstances.date = today();
  std::optional<headway::ProgressLine> line;
  if (!asked.things.empty()) {
    line.emplace(std::string(asked.command->doing), asked.things, asked.circumstances.quiet);
    asked.circumstances.progress = line->callback();
  }
  // On a terminal a text begins as soon as it can; a document is one.
  if (headway::terminal_columns() > 0 && !asked.circumstances.json) {
    asked.circumstances.begun = [&line](const std::string& text) {
      if (line) line->erase();
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    };
  }
  const std::span given(argv + 1, argv + argc);
  CommandOutput output;
  if (!asked.circumstances.shard.empty()) {
    output = run_shard(asked, given, HEADWAY_VERSION);
#ifdef HEADWAY_MPI
  } else if (asked.mpi.asked) {
    output = run_mpi(asked, given, HEADWAY_VERSION);
#endif
  } else {
    output = asked.command->run(asked.circumstances);
  }
  line.reset();
  if (headway::ProgressLine::interrupted() && !output.problems.empty()) headway::end_interrupted();

  // What it says, and the exit code that it means.
  return print(output);
}

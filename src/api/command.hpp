// The one table of commands: a row for each command, and for each thing that it may be told. The
// command line, JSON requests, their schemas, help and completion are loops over the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/commands.hpp"
#include "platform/shard.hpp"

namespace headway {

/// Where an option may be given. A document names no file of this machine, so that options which
/// do are of the command line; what is described in place is of documents.
enum class Door : std::uint8_t { both, command_line, document };

/// How the text of an option is written in a document, where that is not as its target's type.
enum class Form : std::uint8_t {
  plain,
  number_or_text,  // 0.1 or "10%"
  pairs,           // {"tp": 8} for tp=8
};

/// The member of a request that an option sets; its type says what may be given. RunRequest: texts
/// with their places, which the reader of a run judges.
using Target =
    std::variant<bool*, int*, std::int64_t*, std::size_t*, double*, std::string*,
                 std::optional<std::int64_t>*, std::optional<double>*, std::optional<std::string>*,
                 std::vector<std::string>*, std::vector<Document>*, std::optional<Document>*,
                 NameOrDescription*, RunRequest*>;

/// Names of which one may be given.
using NamesOf = std::vector<std::string> (*)();

/// A whole number from `least` to `most`.
struct Range {
  std::int64_t least, most;
};

// A command is made for each request, thousands a second: the words of its options are views of
// what lives as long as the program.
struct Option {
  std::string_view name{};   // --NAME of the command line, member NAME of a document
  std::string_view value{};  // what help shows for it; empty: a switch, or what its type says
  std::string_view help{};
  Target target{};
  Door door = Door::both;
  Form form = Form::plain;
  NamesOf names = nullptr;       // legal ones
  std::string_view built_in{};   // "cluster": the names are those of built-in ones, beside which a
                                 // command line may name a file
  std::string_view instead{};    // what a document does for others than built-in ones
  std::optional<Range> range{};  // of whole numbers
  bool checked = false;          // the range also by the parser of the command line
  bool required = false;         // in a document; of an operand on the command line as well
  std::string_view operand{};    // on the command line it stands without its name; help calls it so
  std::string_view field{};      // RunRequest: the field that it gives; empty: `name`
  const FieldForm* takes = nullptr;  // RunRequest: what may be given, where a table of fields says
  std::string_view group{};          // the heading in help; empty: of the command's own options
  std::string_view counted{};        // what progress counts where this is given
  char letter = '\0';                // -o beside --output; of few
};

/// What an answer needs besides the request.
struct Circumstances {
  bool json = false;
  bool quiet = false;
  int threads = 0;                       // 0: all cores
  bool refused = false;                  // only what else is wrong is asked for
  bool bounded = false;                  // asked by others than who runs it: no work without end
  std::string data = {};                 // folder with measurements/; empty: the binary's
  std::vector<std::string> traces = {};  // files for comms
  std::string date = {};                 // as 2026-11-21
  Progress progress = {};
  Begun begun = {};        // told of the beginning of a text, or of a document that holds less
  std::string shard = {};  // as "2/7", of the command line alone; empty: all of the work
  Division division = {};  // what that means for the command
};

struct Command;
/// A command by its name; each is made anew, with a request of its own.
struct CommandRow {
  std::string_view name;
  std::function<Command()> make;
};

struct Command {
  std::string_view name, help;
  std::vector<std::string> examples{};  // that run as they stand
  std::vector<Option> options{};        // their targets live as long as `run`
  std::function<CommandOutput(const Circumstances&)> run{};
  Door door = Door::both;              // where the command may be asked
  bool answers = true;                 // by text or a document: takes the options of every command
  bool is_long = false;                // may take seconds: few of them run at a time
  bool divides = false;                // its work may be done in parts, on several machines
  std::string_view doing{};            // "searching": what it says of itself meanwhile,
  std::string_view things{};           // and of what, "layouts"; empty: nothing
  std::vector<CommandRow> commands{};  // it is one of these instead; with `run`, or itself
  std::string_view selector{}, selector_help{};  // the member of a document that names it
};

/// Whether it is asked by its own name, not only by that of a command below it.
inline bool is_asked(const Command& command) {
  return command.run != nullptr;
}

/// All commands of the library, in the order of help.
std::span<const CommandRow> command_rows();
/// The one of that name, or null.
const CommandRow* command_row(std::span<const CommandRow> rows, std::string_view name);
std::vector<std::string> names_of(std::span<const CommandRow> rows);
/// Those that documents ask for; of all commands.
std::vector<CommandRow> answered(std::span<const CommandRow> rows);
const std::vector<CommandRow>& answered_commands();

/// Options of every command: --json, --quiet, --threads.
std::vector<Option> common_options(Circumstances& circumstances);

/// What help says of a command that divides. On the command line a value with a slash is a part:
/// one without is the field of a run that has the same name.
constexpr std::string_view kShardFlag = "--shard I/N";
constexpr std::string_view kShardHelp =
    "do only part I of N of the work; headway merge brings all parts together";
/// The options that a document may give; `own`: one of who runs the program, who may give those of
/// the command line as well, but those whose names mean something else in documents.
std::vector<const Option*> members_of(const std::vector<Option>& options, bool own = false);

/// The help of an option with the names that may be given for it, and which of them stands where
/// none is.
std::string help_of(const Option& option);

/// Whether it stands behind its name on the command line, as a flag or before a value.
inline bool is_flag(const Option& option) {
  return option.door != Door::document && option.operand.empty();
}

/// What the argument parser said of the arguments behind the program's name, with the nearest known
/// command or flag for an unknown one. `what`: empty where it said that there are unknown ones and
/// `arguments` are those behind the command; then they are named, a line each, and nothing where
/// none of them is a flag.
std::string argument_problem(const std::string& what, std::span<const std::string> arguments,
                             std::span<const CommandRow> rows);

/// `completion`: a script that completes these commands and their flags in a shell.
Command completion(std::vector<CommandRow> rows);

}  // namespace headway

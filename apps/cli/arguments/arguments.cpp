#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <concepts>
#include <cstdio>
#include <memory>

#include "base/text.hpp"
#include "base/written_count.hpp"

namespace headway {

PartFlag part_flag(std::span<const char* const> words) {
  constexpr std::string_view kName = "--shard";
  std::string_view first = words.front();
  if (!first.starts_with(kName)) return {};
  first.remove_prefix(kName.size());
  const bool joined = first.starts_with('=');
  if (!joined && (!first.empty() || words.size() < 2)) return {};
  const std::string_view value = joined ? first.substr(1) : std::string_view(words[1]);
  if (value.find('/') == std::string_view::npos) return {};
  return {std::string(value), joined ? std::size_t{1} : std::size_t{2}};
}

std::size_t mpi_words(std::span<const char* const> words) {
  const std::string_view first = words.front();
  if (first == "--mpi") return 1;
  for (const std::string_view name : {"--mpi-parts", "--mpi-done", "--mpi-times"}) {
    if (first == name) return std::min<std::size_t>(2, words.size());
    if (first.starts_with(name) && first.substr(name.size()).starts_with('=')) return 1;
  }
  return 0;
}

namespace {

// Of a command that divides. A program without MPI knows the flag, to say so.
void add_mpi(CLI::App& app, MpiFlags& flags) {
#ifdef HEADWAY_MPI
  constexpr char kGroup[] = "On many machines (mpirun -n N headway ... --mpi)";
#else
  constexpr char kGroup[] = "";  // not in help
#endif
  app.add_flag("--mpi", flags.asked, "the ranks that MPI started do the work together")
      ->group(kGroup);
  app.add_option("--mpi-parts", flags.parts,
                 "divide it into N parts, of which a rank takes one after another; default: 64")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, static_cast<std::int64_t>(kMostShards)))
      ->group(kGroup);
  app.add_option("--mpi-done", flags.done,
                 "keep the parts that are done in this folder, and do not do those that are there")
      ->type_name("DIR")
      ->group(kGroup);
  app.add_option("--mpi-times", flags.times,
                 "write how long each part took, and on which rank, to this file (CSV)")
      ->type_name("FILE")
      ->group(kGroup);
}

// Why these flags of MPI cannot be; empty where they can.
std::string mpi_problem(const MpiFlags& flags, const std::string& shard) {
  const bool others = !flags.done.empty() || !flags.times.empty();
  if (!flags.asked)
    return others ? "--mpi-done and --mpi-times are of --mpi, which is missing" : "";
#ifndef HEADWAY_MPI
  return "--mpi: this headway was built without MPI; build it with -DHEADWAY_MPI=ON";
#endif
  if (!shard.empty()) return "--mpi and --shard: give one of them";
  return "";
}

// Gives an option to the parser, by the type of what it sets.
struct Adder {
  CLI::App& app;
  const Option& option;
  const std::string name = option.operand.empty()
                               ? (option.letter ? std::string{'-', option.letter, ','} : "") +
                                     "--" + std::string(option.name)
                               : std::string(option.operand);

  CLI::Option* operator()(bool* to) const { return app.add_flag(name, *to, help_of(option)); }
  template <class T>
  CLI::Option* operator()(T* to) const {
    return last(app.add_option(name, *to, help_of(option)));
  }
  // Any number of values, those of all flags of the name together.
  CLI::Option* operator()(std::vector<std::string>* to) const {
    return app.add_option(name, *to, help_of(option));
  }
  template <std::integral T>
  CLI::Option* operator()(T* to) const {
    return count([to](std::int64_t value) { *to = static_cast<T>(value); });
  }
  CLI::Option* operator()(std::optional<std::int64_t>* to) const {
    return count([to](std::int64_t value) { *to = value; });
  }
  // Values stay text: the library reads them and reports all problems.
  CLI::Option* operator()(RunRequest* to) const {
    const std::string field(option.field.empty() ? option.name : option.field);
    if (option.value.empty()) {
      return app.add_flag_callback(
          name,
          [to, field, flag = FieldName(option.name)] {
            to->push_back({field, "true", flag});
          },
          help_of(option));
    }
    return last(app.add_option_function<std::string>(
        name,
        [to, field, flag = FieldName(option.name)](const std::string& text) {
          to->push_back({field, text, flag});
        },
        help_of(option)));
  }
  CLI::Option* operator()(NameOrDescription* to) const { return (*this)(&to->name); }
  // Of documents alone.
  CLI::Option* operator()(std::vector<Document>*) const { return nullptr; }
  CLI::Option* operator()(std::optional<Document>*) const { return nullptr; }

 private:
  // Of a flag that is repeated the last counts, as where a script adds to a command of its own.
  static CLI::Option* last(CLI::Option* added) {
    return added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  // A whole number as people write it: 2048, 2,048, 2k.
  template <class Set>
  CLI::Option* count(Set set) const {
    const auto read = [set, range = option.checked ? option.range : std::nullopt,
                       shown = name](const std::string& text) {
      const auto value = written_count(text);
      if (!value) throw CLI::ValidationError(shown, "'" + text + "' is not a whole number");
      if (range && (*value < range->least || *value > range->most)) {
        throw CLI::ValidationError(shown, "Value " + text + " not in range [" +
                                              std::to_string(range->least) + " - " +
                                              std::to_string(range->most) + "]");
      }
      set(*value);
    };
    CLI::Option* added = app.add_option_function<std::string>(name, read, help_of(option));
    return last(added->type_name(range_text()));
  }
  std::string range_text() const {
    if (!option.checked || !option.range) return "INT";
    return "INT in [" + std::to_string(option.range->least) + " - " +
           std::to_string(option.range->most) + "]";
  }
};

void add(CLI::App& app, const Option& option) {
  if (option.door == Door::document) return;
  CLI::Option* added = std::visit(Adder{app, option}, option.target);
  if (added == nullptr) return;
  if (!option.value.empty()) added->type_name(std::string(option.value));
  if (!option.group.empty()) added->group(std::string(option.group));
  if (option.checked && std::holds_alternative<double*>(option.target)) {
    added->check(CLI::Range(option.range->least, option.range->most));
  }
  if (option.required && !option.operand.empty()) added->required();
}

// The value of the last --shard with a slash in it, of which all are taken away.
std::string taken_part(std::vector<const char*>& words) {
  std::string out;
  for (std::size_t i = 1; i < words.size() && std::string_view(words[i]) != "--";) {
    const PartFlag flag = part_flag(std::span(words).subspan(i));
    if (flag.words > 0) out = flag.value;
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(at, at + static_cast<std::ptrdiff_t>(flag.words));
    if (flag.words == 0) ++i;
  }
  return out;
}

// The commands as the parser knows them, and the one that it found.
class Parser {
 public:
  Parser(std::span<const CommandRow> rows, const std::string& version) {
    app_.name("headway");
    app_.set_version_flag("--version", "headway " + version);
    add_commands(app_, rows);
  }

  CLI::App& app() { return app_; }
  Arguments& found() { return found_; }

 private:
  void add_commands(CLI::App& above, std::span<const CommandRow> rows) {
    above.require_subcommand(1);
    for (const CommandRow& row : rows) add_command(above, row.make());
  }

  void add_command(CLI::App& above, Command made) {
    commands_.push_back(std::make_unique<Command>(std::move(made)));
    const Command& command = *commands_.back();
    CLI::App* app = above.add_subcommand(std::string(command.name), std::string(command.help));
    if (!command.commands.empty()) add_commands(*app, command.commands);
    if (!is_asked(command)) return;
    if (!command.commands.empty()) app->require_subcommand(0, 1);
    for (const Option& option : command.options) add(*app, option);
    if (command.answers) {
      for (const Option& option : common_options(found_.circumstances)) add(*app, option);
    }
    std::string examples = command.examples.size() == 1 ? "Example:" : "Examples:";
    for (const std::string& example : command.examples) examples += "\n  " + example;
    if (command.divides) {
      examples = "On several machines:\n  " + std::string(kShardFlag) + "  " +
                 std::string(kShardHelp) + "\n" + examples;
    }
    if (command.divides) add_mpi(*app, found_.mpi);
    app->footer(examples);
    app->callback([this, &command, app] {
      if (!app->get_subcommands().empty()) return;  // one below it
      found_.command = command;
      found_.things = command.things;
      for (const Option& option : command.options) {
        if (!option.counted.empty() && app->count("--" + std::string(option.name)) > 0) {
          found_.things = option.counted;
        }
      }
    });
  }

  CLI::App app_{"Headway: how long a training step takes, where the time goes, whether it fits."};
  Arguments found_;
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace

Result<std::string> help_text(std::span<const CommandRow> rows, const std::string& version,
                              std::span<const std::string> command) {
  Parser parser(rows, version);
  const CLI::App* app = &parser.app();
  std::string before;
  for (const std::string& word : command) {
    const auto below = app->get_subcommands([](const CLI::App*) { return true; });
    std::vector<std::string> names;
    const CLI::App* found = nullptr;
    for (const CLI::App* each : below) {
      names.push_back(each->get_name());
      if (each->get_name() == word) found = each;
    }
    if (found == nullptr) {
      return Problem{"help", "'" + printable(word) + "' is not a command" +
                                 (before.empty() ? "" : " of " + app->get_name()) +
                                 suggestion(word, names)};
    }
    before += (before.empty() ? "" : " ") + app->get_name();
    app = found;
  }
  return app->help(before);
}

Arguments read_arguments(std::span<const CommandRow> rows, const std::string& version, int argc,
                         const char* const* argv) {
  Parser parser(rows, version);
  std::vector<const char*> words(argv, argv + argc);
  const std::string shard = taken_part(words);
  try {
    parser.app().parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {.exit_code = parser.app().exit(error)};  // --help
    const std::vector<std::string> given(argv + 1, argv + argc);
    std::string problem;
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      const auto first = std::find_if(given.begin(), given.end(), [](const std::string& word) {
        return word.starts_with('-');
      });
      std::vector<std::string> left(given.begin(), first);  // the command
      for (std::string& word : parser.app().remaining(true)) left.push_back(std::move(word));
      problem = argument_problem("", left, rows);
    }
    if (problem.empty()) problem = argument_problem(error.what(), given, rows);
    std::fprintf(stderr, "headway: %s\nSee headway COMMAND --help.\n", problem.c_str());
    return {.exit_code = 2};
  }
  Arguments& found = parser.found();
  if (!shard.empty() && found.command && !found.command->divides) {
    std::fprintf(stderr,
                 "headway: --shard %s: the work of %s has no parts; headway COMMAND --help says of "
                 "which it has\n",
                 printable(shard).c_str(), std::string(found.command->name).c_str());
    return {.exit_code = 2};
  }
  if (const std::string problem = mpi_problem(found.mpi, shard); !problem.empty()) {
    std::fprintf(stderr, "headway: %s\n", problem.c_str());
    return {.exit_code = 2};
  }
  Arguments out = std::move(found);
  out.circumstances.shard = shard;
  return out;
}

}  // namespace headway

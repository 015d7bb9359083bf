// Which options of a framework are known, and what each does to a step: read, without effect,
// priced by habit, or refused. Internal to src/launch.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/parts.hpp"

namespace headway::launch {

/// What is known of a framework's options (data/launch). Each stands in one of the lists; a name
/// that ends in '-', '.' or '_' is a family and stands for all that begin with it. A whole name
/// counts before a family, a narrow family before a wide one.
struct OptionTable {
  struct Known {
    std::string name;
    std::string does;                   // as the beginning of a sentence
    std::vector<std::string> harmless;  // values at which it changes nothing
  };
  std::vector<std::string> read;   // some field of the run says what they say
  std::vector<std::string> alone;  // no step's time or memory depends on them
  std::vector<Known> habits;       // details that are priced by the framework's habit
  std::vector<Known> refused;      // they change the step in a way that no field of a run says
  std::vector<std::pair<std::string, std::string>> older;  // words, and what they are today

  bool reads(std::string_view name) const;
  /// The word of today.
  std::string today(std::string name) const;
};

const OptionTable& option_table(Launcher launcher);

/// An option as it was given; `value` is empty for a switch.
struct GivenOption {
  std::string name;
  std::string value;
  Where where;
};

/// Judges every option by the table. Of one that no list has nobody knows what it does: where its
/// name holds a word of what steps are made of ("parallel", "recompute") it is a problem, else it
/// is named in a note.
void judge_options(const OptionTable& table, std::span<const GivenOption> options,
                   std::vector<std::string>& notes, Problems& problems);

/// The options of a document: "table.key" with each value's place; lists as texts with commas.
std::vector<GivenOption> options_of(const Document& document);

}  // namespace headway::launch

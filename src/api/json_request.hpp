// A JSON object as the request of a command: its members by name, every problem where it stands.
// Internal to src/api.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/command.hpp"
#include "run/run.hpp"

namespace headway {

/// Whether a request may name files of this machine: not that of another, who chooses no path here.
enum class Files : std::uint8_t { refused, named };

/// Reads the members of one object by name. Where files are refused, models and clusters are
/// built-in names or described in place, and nothing else names a file. What is missing leaves a
/// harmless value; what is wrong becomes a problem of the member.
class JsonRequest {
 public:
  JsonRequest(const Node& object, Problems& problems, Files files = Files::refused)
      : object_(object), problems_(problems), files_(files) {}

  bool may_name_files() const { return files_ == Files::named; }

  bool flag(std::string_view name);
  std::string text(std::string_view name);
  /// "x" or ["x", "y"].
  std::vector<std::string> texts(std::string_view name);
  std::optional<std::int64_t> whole(std::string_view name, std::int64_t least, std::int64_t most);
  std::optional<double> number(std::string_view name);
  /// A text, or a number as it would be written on a command line.
  std::string text_or_number(std::string_view name);
  /// A text that must be one of `names`; empty where it is not given.
  std::string name_of(std::string_view name, std::span<const std::string> names);
  /// The objects in a list of them.
  std::vector<const Node*> objects(std::string_view name);
  /// The object `name`.
  std::optional<Document> described(std::string_view name);
  /// A name, which is of no file, or an object.
  NameOrDescription name_or_described(std::string_view name);
  /// The members of the object `name`, as text.
  std::vector<std::pair<std::string, std::string>> pairs(std::string_view name);

  /// The member as a field of a run, for make_run() and its like. A list becomes text between
  /// commas.
  std::optional<GivenField> given(std::string_view name, const FieldForm& form);

  /// A problem for each member that no call above asked for, with the word that it has here.
  void reject_unknown();
  void fail(std::string_view name, std::string message, Trouble kind = Trouble::illegal);

 private:
  const Node* take(std::string_view name);
  std::optional<GivenField> field(std::string_view name, const FieldForm& form, const Node& node);

  const Node& object_;
  Problems& problems_;
  Files files_;
  std::vector<std::string_view> asked_;  // names that live as long as the program
};

/// The member of a request that an option is given by: its name, and `files` for what stands on a
/// command line without one.
std::string_view member_of(const Option& option);
/// Sets what an option sets from its member; what is not given leaves it as it is.
void read_member(const Option& option, JsonRequest& json);

/// Refuses what a cluster described in place names outside itself: only built-in bases and
/// accelerators.
void refuse_files(const Node& cluster, const std::string& where, Problems& problems);

/// Problems as they concern a JSON request: its members instead of arguments, and members of them
/// ("cluster.levels") instead of lines of what was `described` in place.
Problems by_member(Problems problems, std::span<const std::string> described);

}  // namespace headway

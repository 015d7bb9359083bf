// From the text of given fields to values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "run/run.hpp"

namespace headway {

/// The cluster that is named, of a file, or described in place.
Result<Cluster> cluster_of(const GivenField& given);

/// Reads the given fields by name; what is wrong becomes a problem where the field stands.
class RequestReader {
 public:
  /// Fields that are not of `known` are problems at once.
  RequestReader(const RunRequest& request, Problems& problems,
                std::span<const RunField> known = run_fields());

  /// The last field of this name: flags override the run file. Null where it is not given.
  const GivenField* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  void fail(std::string_view name, std::string message, Trouble kind = Trouble::illegal,
            std::vector<std::int64_t> near = {});
  /// What is wrong with the file that the field names, where it stands there, else with the field.
  void fail(std::string_view name, const Problems& of_file);
  /// Whether a problem of this field was found: what was read of it is not what is meant.
  bool refused(std::string_view name) const;

  // What is not given leaves `into` as it is.
  std::optional<std::string> text(std::string_view name, bool required = false);
  void count(std::string_view name, std::int64_t& into, std::int64_t least = 1);
  void number(std::string_view name, double& into, double least, double most);
  /// One of `names`; the index goes to `into`.
  template <class Enum>
  void choice(std::string_view name, std::span<const std::string_view> names, Enum& into) {
    const GivenField* given = find(name);
    if (given == nullptr) return;
    const std::string written = lower(given->text);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == written) return void(into = static_cast<Enum>(i));
    }
    const std::vector<std::string> known(names.begin(), names.end());
    fail(name, "'" + printable(given->text) + "' is not known; legal: " + join(known, ", "),
         Trouble::unknown);
  }
  /// What is given for a field as its number; nothing where nothing is, or it is wrong.
  std::optional<double> value(const RunField& field);
  std::optional<double> value(const FieldRow& row) { return value(row.field); }
  /// A switch: present, or true in a file.
  bool flag(std::string_view name);

 private:
  const RunRequest& request_;
  std::uint64_t given_ = 0;  // a bit of each given name: most fields of a run are not given
  Problems& problems_;
  std::vector<std::string> refused_;
};

}  // namespace headway

// One thing wrong with an input: what kind of thing, of which field, where, and what would be
// right. Only whoever shows it makes text of the first three.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headway {

/// What kind of thing is wrong.
enum class Trouble : std::uint8_t {
  illegal,      // a value that cannot stand, by itself or beside others
  missing,      // something must be said, and is not
  unknown,      // a name that stands for nothing, or a form of file that nothing reads
  malformed,    // text that cannot be read as what it should be
  unreadable,   // a file that cannot be opened, read, written or held
  unsupported,  // understood, and nothing here computes it
  stopped,      // nothing: whoever asked did not want the answer any more
};

/// The name of a field of a run, an option of a command or a member of a document
/// ("levels[0].size").
struct FieldName {
  explicit FieldName(std::string_view text, std::string value = {})
      : name(text), given(std::move(value)) {}

  std::string name;
  std::string given;  // which of several of that name: what it was given
  friend bool operator==(const FieldName&, const FieldName&) = default;
};
using FieldNames = std::vector<FieldName>;

/// The input in which something stands.
struct Place {
  enum class Kind : std::uint8_t {
    argument,  // of the command line, or of a function
    member,    // of a request
    file,      // or a command by its name
  };
  Kind kind = Kind::argument;
  std::string file = {};  // as shown; empty unless it is one
  int line = 0;           // 0: none
  friend bool operator==(const Place&, const Place&) = default;
};

/// Where something stands: the fields that it is about (none: all of the place), and in what.
struct Where {
  Where() = default;
  Where(FieldName field) : fields{std::move(field)} {}
  Where(FieldNames all) : fields(std::move(all)) {}
  Where(FieldName field, Place in) : fields{std::move(field)}, place(std::move(in)) {}
  Where(FieldNames all, Place in) : fields(std::move(all)), place(std::move(in)) {}
  Where(std::string file, int line = 0) : place{Place::Kind::file, std::move(file), line} {}
  Where(const char* file) : Where(std::string(file)) {}
  Where(std::string file, int line, FieldName field)
      : fields{std::move(field)}, place{Place::Kind::file, std::move(file), line} {}

  FieldNames fields = {};
  Place place = {};
  friend bool operator==(const Where&, const Where&) = default;
};

/// A member of a request, or what a function was asked for: a name without dashes.
inline Where member(std::string_view name) {
  return {FieldName(name), Place{.kind = Place::Kind::member}};
}

struct Problem {
  Problem() = default;
  Problem(Where at, std::string text, Trouble trouble = Trouble::illegal,
          std::vector<std::int64_t> numbers = {})
      : kind(trouble),
        fields(std::move(at.fields)),
        place(std::move(at.place)),
        message(std::move(text)),
        near(std::move(numbers)) {}

  Where where() const { return {fields, place}; }

  Trouble kind = Trouble::illegal;
  FieldNames fields;
  Place place;
  std::string message;
  std::vector<std::int64_t> near;  // legal numbers next to the one that was given
  friend bool operator==(const Problem&, const Problem&) = default;
};

using Problems = std::vector<Problem>;

/// As a reader of messages finds it: "run.toml:4: tp" in a file, "--first, --last" of arguments,
/// "tp" of a request.
std::string where_text(const Where& where);
inline std::string where_text(const Problem& problem) {
  return where_text(problem.where());
}

}  // namespace headway

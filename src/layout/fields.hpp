// The one table of the fields of a run. What flags, run files, requests, documents, their schemas,
// the planner and random runs know of a field stands in its row, and they are loops over the rows.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/document/document.hpp"
#include "layout/job.hpp"
#include "layout/layout.hpp"
#include "model/count.hpp"

namespace headway {

/// Another word for one of the names of a field.
struct OtherName {
  std::string_view said;
  std::size_t means;  // the place among the names
};

/// What may be given for a field, and which number stands for it: a whole number or another for
/// itself, a name for its index, names for a bit each, a switch for what it sets (0 or 1), a month
/// for its date in years, a size with its unit for its bytes. The last two, and text, are of
/// options that are no numbers: an amount as 15T, and a list of numbers or texts. A model, a
/// cluster and what own runs say are named, or described in place by a document; a name may be of a
/// file.
struct FieldForm {
  enum class Kind : std::uint8_t {
    text,
    model,
    cluster,
    own_runs,
    whole,
    number,
    name,
    names,
    flag,
    month,
    bytes,
    amount,
    list
  };
  Kind kind = Kind::text;
  double least = 0, most = 0;                    // whole, number, bytes
  std::span<const std::string_view> names = {};  // name, names
  bool sets = true;                              // flag: what the member is where it is given
  std::string_view wrong = "is not known";       // said of a name that is not among `names`
  bool lists = true;                             // and which are
  double none =
      std::numeric_limits<double>::quiet_NaN();  // the number that nothing given stands for
  bool or_file = false;                          // number: the command line may name a file
  std::span<const OtherName> also = {};          // name: other words that are understood
};

/// The headings under which help, documentation and the page show the fields of a run.
constexpr std::array<std::string_view, 4> kFieldGroups = {"Run", "Degrees", "Memory and schedule",
                                                          "More"};

/// One field of a run, or option of a command. As a flag it is written --name, in a run file
/// name = value.
struct RunField {
  std::string_view name;
  std::string_view value;  // what to write for it in help; empty: a switch
  std::string help;
  FieldForm form = {};
  std::string_view group = {};      // the heading in help
  std::string_view otherwise = {};  // what stands where nothing is given, in words
};

/// The field as a number, in the part of a run that holds it.
template <class Part>
struct FieldAccess {
  double (*get)(const Part&);
  void (*set)(Part&, double);  // null: it follows from others
};

struct FieldRow {
  RunField field;
  /// Nothing: of the model and cluster.
  std::variant<std::monostate, FieldAccess<Job>, FieldAccess<Layout>, FieldAccess<AttentionFlops>>
      access = {};
  std::string_view member = {};              // of the layout in documents; empty: it is none of it
  double (*shown)(const Layout&) = nullptr;  // the number there, where it is another
};

/// The table, in the order in which help shows it (field_rows.cpp holds nothing else).
std::span<const FieldRow> field_rows();

/// The fields of its rows; their help says what may be given, and what stands where nothing is.
std::span<const RunField> run_fields();
/// What stands where nothing is given, in words; empty: it must be given, or is a switch.
std::string default_text(const FieldRow& row);
/// The help of a field with the names that may be given for it and its default, of which `standing`
/// is the number.
std::string help_text(const RunField& field, std::optional<double> standing = std::nullopt);

/// Null for a name that is none.
const FieldRow* field_row(std::string_view name);

/// Whether a number can be given for it: not of a model or cluster, nor of what follows from
/// others.
bool can_be_set(const FieldRow& row);

/// The items of a list between commas, without blanks before them.
std::vector<std::string_view> items_of(std::string_view list);

/// The number that a text stands for; nothing where it stands for none. Not of text.
std::optional<double> number_of(const FieldForm& form, std::string_view text);

/// A number as it is given: true, 8, "ring", ["norm", "core"]; null where nothing stands for it.
Node value_of(const FieldForm& form, double number);

/// The same as flags and run files write it: lists between commas, a switch as true or false.
std::string text_of(const FieldForm& form, double number);

/// The value of the field's member in the layout of a document: of a switch what it sets, false
/// where it is given to turn something off.
Node shown_value(const FieldRow& row, const Layout& layout);

}  // namespace headway

// The one table of the fields of a run. What flags, run files, requests, documents, their schemas,
// the planner and random runs know of a field stands in its row, and they are loops over the rows.
#pragma once

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

/// One field of a run, or option of a command. As a flag it is written --name, in a run file
/// name = value.
struct RunField {
  std::string_view name;
  std::string_view value;  // what to write for it in help; empty: a switch
  std::string_view help;
};

/// What may be given for a field, and which number stands for it: a whole number or another for
/// itself, a name for its index, names for a bit each, a switch for what it sets (0 or 1), a month
/// for its date in years.
struct FieldForm {
  enum class Kind : std::uint8_t { text, whole, number, name, names, flag, month };
  Kind kind = Kind::text;
  double least = 0, most = 0;                    // whole, number
  std::span<const std::string_view> names = {};  // name, names
  bool sets = true;                              // flag: what the member is where it is given
  std::string_view wrong = "is not known";       // said of a name that is not among `names`
  bool lists = true;                             // and which are
  double none =
      std::numeric_limits<double>::quiet_NaN();  // the number that nothing given stands for
};

/// The field as a number, in the part of a run that holds it.
template <class Part>
struct FieldAccess {
  double (*get)(const Part&);
  void (*set)(Part&, double);  // null: it follows from others
};

struct FieldRow {
  RunField field;
  FieldForm form;
  /// Nothing: of the model and cluster.
  std::variant<std::monostate, FieldAccess<Job>, FieldAccess<Layout>, FieldAccess<AttentionFlops>>
      access = {};
  std::string_view member = {};              // of the layout in documents; empty: it is none of it
  double (*shown)(const Layout&) = nullptr;  // the number there, where it is another
};

/// In the order in which help shows them.
std::span<const FieldRow> field_rows();
std::span<const RunField> run_fields();
std::vector<RunField> fields_of(std::span<const FieldRow> rows);

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

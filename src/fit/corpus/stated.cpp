#include "fit/corpus/stated.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/formatted.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

using FieldKind = FieldForm::Kind;

// Fields that columns of a corpus say by other names, or that settle_recomputation() decides.
constexpr std::array<std::string_view, 21> kSaidOtherwise = {"seq",
                                                             "global-batch",
                                                             "framework",
                                                             "precision",
                                                             "task",
                                                             "dp",
                                                             "tp",
                                                             "cp",
                                                             "pp",
                                                             "vpp",
                                                             "ep",
                                                             "micro-batch",
                                                             "zero",
                                                             "no-sp",
                                                             "recompute",
                                                             "offload",
                                                             "software",
                                                             "recompute-pieces",
                                                             "recompute-every",
                                                             "recompute-one-in",
                                                             "attention-flops"};

std::string column_of(const RunField& field) {
  std::string name(field.name);
  std::replace(name.begin(), name.end(), '-', '_');
  if (field.form.kind != FieldKind::flag || field.form.sets) return name;
  for (const std::string_view off : {"no_", "not_", "un"}) {
    if (name.starts_with(off)) return name.substr(off.size());
  }
  return name;
}

bool is_switch(const FieldForm& form) {
  return form.kind == FieldKind::flag ||
         (form.kind == FieldKind::name && form.names.size() == kChoiceNames.size() &&
          std::equal(form.names.begin(), form.names.end(), kChoiceNames.begin()));
}

}  // namespace

const FieldRow* stated_field(std::string_view column) {
  for (const FieldRow& row : field_rows()) {
    const auto& said = kSaidOtherwise;
    if (!can_be_set(row) || column_of(row.field) != column) continue;
    return std::find(said.begin(), said.end(), row.field.name) == said.end() ? &row : nullptr;
  }
  return nullptr;
}

std::optional<double> stated_number(const FieldRow& field, std::string_view cell) {
  const FieldForm& form = field.field.form;
  if (is_switch(form)) {
    const bool on = cell == "1" || cell == "true" || cell == "on";
    if (!on && cell != "0" && cell != "false" && cell != "off") return std::nullopt;
    if (form.kind == FieldKind::flag) return on ? 1 : 0;
    return static_cast<double>(on ? Choice::on : Choice::off);
  }
  const auto number = number_of(form, cell);
  const bool counts = form.kind == FieldKind::whole || form.kind == FieldKind::number ||
                      form.kind == FieldKind::bytes;
  // Not a number is in no range.
  if (counts && !(number && *number >= form.least && *number <= form.most)) return std::nullopt;
  return number;
}

std::string legal_cells(const FieldRow& field) {
  const FieldForm& form = field.field.form;
  if (is_switch(form)) return "1 or 0, on or off";
  const auto range = [&] { return formatted(" from %g to %g", form.least, form.most); };
  switch (form.kind) {
    case FieldKind::whole:
      return "a whole number" + range();
    case FieldKind::number:
      return "a number" + range();
    case FieldKind::bytes:
      return "a size, as 25MiB";
    default:
      break;
  }
  if (!form.lists) return "legal: it " + std::string(form.wrong);
  return "one of " + join(std::vector<std::string>(form.names.begin(), form.names.end()), ", ");
}

void set_stated(const CorpusRow& row, Run& run) {
  for (const StatedColumn& column : row.stated) set_number(run, *column.field, column.number);
}

}  // namespace headway

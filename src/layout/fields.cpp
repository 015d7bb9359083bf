// What is asked of the table, whatever its rows.
#include "layout/fields.hpp"

#include <type_traits>

namespace headway {
namespace {

// The number that a run has where nothing is given; nothing where it must be, or follows.
std::optional<double> standing_number(const FieldRow& row) {
  const double number = std::visit(
      [](const auto& access) {
        using Access = std::remove_cvref_t<decltype(access)>;
        if constexpr (std::is_same_v<Access, FieldAccess<Job>>) {
          return access.get(Job());
        } else if constexpr (std::is_same_v<Access, FieldAccess<Layout>>) {
          return access.get(Layout());
        } else {
          return 0.0;  // the first name
        }
      },
      row.access);
  const FieldForm& form = row.field.form;
  const bool counts = form.kind == FieldForm::Kind::whole || form.kind == FieldForm::Kind::number ||
                      form.kind == FieldForm::Kind::bytes;
  if (!can_be_set(row) || (counts && number < form.least)) return std::nullopt;
  return number;
}

// Whether `number` stands for the i-th name, or has its bit.
bool picks(const FieldForm& form, double number, std::size_t i) {
  if (form.kind == FieldForm::Kind::name) return number == static_cast<double>(i);
  return (static_cast<std::uint64_t>(number) >> i & 1) != 0;
}

bool stands_for_number(const FieldForm& form) {
  using Kind = FieldForm::Kind;
  switch (form.kind) {
    case Kind::text:
    case Kind::model:
    case Kind::cluster:
    case Kind::own_runs:
    case Kind::amount:
    case Kind::list:
      return false;
    default:
      return true;
  }
}

// What stands for the field where nothing is given; empty: it must be given, or is a switch.
std::string default_of(const RunField& field, std::optional<double> standing) {
  if (!field.otherwise.empty()) return std::string(field.otherwise);
  if (!standing || !stands_for_number(field.form) || field.form.kind == FieldForm::Kind::flag) {
    return {};
  }
  return *standing == field.form.none ? "the framework's choice" : text_of(field.form, *standing);
}

}  // namespace

std::string default_text(const FieldRow& row) {
  return default_of(row.field, standing_number(row));
}

std::string help_text(const RunField& field, std::optional<double> standing) {
  using Kind = FieldForm::Kind;
  const FieldForm& form = field.form;
  std::string out = field.help;
  bool marked = false;
  const bool shown = field.value.find('|') != std::string_view::npos;  // "on|off"
  const bool lists = (form.kind == Kind::name || form.kind == Kind::names) && form.lists && !shown;
  for (std::size_t i = 0; lists && i < form.names.size(); ++i) {
    out += (i == 0 ? ": " : ", ") + std::string(form.names[i]);
    if (!standing || !field.otherwise.empty() || !picks(form, *standing, i)) continue;
    out += " (default)";
    marked = true;
  }
  const std::string otherwise = default_of(field, standing);
  return marked || otherwise.empty() ? out : out + "; default: " + otherwise;
}

std::span<const RunField> run_fields() {
  static const std::vector<RunField> out = [] {
    std::vector<RunField> fields;
    for (const FieldRow& row : field_rows()) {
      fields.push_back(row.field);
      fields.back().help = help_text(row.field, standing_number(row));
    }
    return fields;
  }();
  return out;
}

bool can_be_set(const FieldRow& row) {
  return std::visit(
      [](const auto& access) {
        if constexpr (std::is_same_v<decltype(access), const std::monostate&>) {
          return false;
        } else {
          return access.set != nullptr;
        }
      },
      row.access);
}

const FieldRow* field_row(std::string_view name) {
  for (const FieldRow& row : field_rows()) {
    if (row.field.name == name) return &row;
  }
  return nullptr;
}

}  // namespace headway

// The fields of a layout that the planner chooses: rows of the table of fields.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "layout/fields.hpp"
#include "layout/layout.hpp"
#include "run/run.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {

/// What is chosen together with a field: the lists of a tuple of degrees, and the tuple itself.
enum class PlanAxis : std::uint8_t { degrees, order, experts, micro_batch, split, inner };

struct PlanField {
  /// As --fix and answers call it: as the field of the run, but by what a switch turns off ("sp" of
  /// --no-sp), so that its values are off and on.
  std::string_view name;
  const FieldRow* row;
  PlanAxis axis;
  double (*number)(const Layout&);          // what the table's row, or `words`, calls it
  std::span<const std::string_view> words;  // of its values; none: a number, or names
  /// Layouts in which the field has nothing to act on; null: none. There all values up to
  /// `idle_most` mean the same. Of inner choices it hangs on them and on degrees alone.
  bool (*idle)(const Layout&) = nullptr;
  std::int64_t idle_most = 0;
  bool OverlapHabits::*habit = nullptr;  // what "default" means

  std::int64_t value(const Layout& layout) const {
    return static_cast<std::int64_t>(number(layout));
  }
  /// "At most" has a meaning: no number stands for all, or for what is not given.
  bool counts() const {
    return row->field.form.kind == FieldForm::Kind::whole && std::isnan(row->field.form.none);
  }
};

std::span<const PlanField> plan_fields();

/// Null for a name that is not searched.
const PlanField* plan_field(std::string_view name);

/// A field's value as flags write it.
std::string value_text(const PlanField& field, const Layout& layout);

/// Layouts in which a field stands at a value, or is at most that; without a field all.
struct PlanLimit {
  const PlanField* field = nullptr;
  std::int64_t value = 0;
  bool most = false;
  bool or_default = false;  // "default" means the value
  bool passes(const Layout& layout) const {
    if (field == nullptr) return true;
    const std::int64_t at = field->value(layout);
    if (most ? at <= value : at == value) return true;
    if (or_default && at == static_cast<std::int64_t>(Choice::framework)) return true;
    return field->idle != nullptr && value <= field->idle_most && field->idle(layout);
  }
};

/// Layouts in which `field` stands at `value` for runs of a framework.
PlanLimit limit_to(const PlanField& field, std::int64_t value, Framework framework);

/// The value of PlanField::value that a text stands for; nothing where it stands for none.
std::optional<std::int64_t> value_of(const PlanField& field, std::string_view text);

/// The searched fields of a layout as those of a run: what a run of the model and job would not
/// take anyway.
RunRequest layout_fields(const Model& model, const Job& job, const Layout& layout);

}  // namespace headway

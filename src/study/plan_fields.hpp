// The fields of a layout that the planner chooses, by the names of their flags.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "layout/layout.hpp"

namespace headway {

/// What is chosen together with a field: the lists of a tuple of degrees, and the tuple itself.
enum class PlanAxis : std::uint8_t { degrees, order, experts, micro_batch, split, inner };

struct PlanField {
  std::string_view name;
  PlanAxis axis;
  std::int64_t (*value)(const Layout&);
  std::span<const std::string_view> words;  // of its values; none: it is a number
  bool counts = true;                       // "at most" has a meaning
};

std::span<const PlanField> plan_fields();

/// Null for a name that is not searched.
const PlanField* plan_field(std::string_view name);

/// A field's value as flags write it.
std::string value_text(const PlanField& field, const Layout& layout);

/// Layouts in which a field stands at a value, or is at most that.
struct PlanLimit {
  const PlanField* field = nullptr;
  std::int64_t value = 0;
  bool most = false;
  bool passes(const Layout& layout) const {
    const std::int64_t at = field->value(layout);
    return most ? at <= value : at == value;
  }
};

/// The value of PlanField::value that a text stands for; nothing where it stands for none.
std::optional<std::int64_t> value_of(const PlanField& field, std::string_view text);

}  // namespace headway

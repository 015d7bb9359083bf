// The one table of the parts of a step's time.
#pragma once

#include <array>
#include <string_view>

#include "base/quantity.hpp"
#include "step/program/groups.hpp"

namespace headway {

/// Where the time of a step goes on the rank that sets the pace. They sum to the step's time.
struct Parts {
  Seconds compute, tp, cp, ep, pp, dp, bubble, optimizer, other;

  constexpr Seconds& operator[](Part part);
  constexpr Seconds operator[](Part part) const;
  constexpr Seconds total() const;
  /// Communication that no computation hides, of all groups.
  constexpr Seconds exposed() const;
};

struct PartRow {
  Part part;
  std::string_view name;  // in documents and tables
  std::string_view long_name;
  Seconds Parts::*seconds;
  bool is_communication = false;
};

constexpr std::array<PartRow, 9> kParts = {{
    {Part::compute, "compute", "compute", &Parts::compute},
    {Part::tp, "tp", "tensor-parallel calls", &Parts::tp, true},
    {Part::cp, "cp", "context-parallel calls", &Parts::cp, true},
    {Part::ep, "ep", "expert-parallel calls", &Parts::ep, true},
    {Part::pp, "pp", "pipeline transfers", &Parts::pp, true},
    {Part::dp, "dp", "data-parallel calls", &Parts::dp, true},
    {Part::bubble, "bubble", "pipeline bubble", &Parts::bubble},
    {Part::optimizer, "optimizer", "optimizer", &Parts::optimizer},
    {Part::other, "other", "other", &Parts::other},
}};

constexpr const PartRow& row_of(Part part) {
  return kParts[static_cast<std::size_t>(part)];
}

constexpr Seconds& Parts::operator[](Part part) {
  return this->*row_of(part).seconds;
}
constexpr Seconds Parts::operator[](Part part) const {
  return this->*row_of(part).seconds;
}
constexpr Seconds Parts::total() const {
  Seconds out(0);
  for (const PartRow& row : kParts) out += this->*row.seconds;
  return out;
}
constexpr Seconds Parts::exposed() const {
  Seconds out(0);
  for (const PartRow& row : kParts) {
    if (row.is_communication) out += this->*row.seconds;
  }
  return out;
}

constexpr bool parts_stand_in_order() {
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (kParts[i].part != static_cast<Part>(i)) return false;
  }
  return sizeof(Parts) == kParts.size() * sizeof(Seconds);
}
static_assert(parts_stand_in_order());

}  // namespace headway

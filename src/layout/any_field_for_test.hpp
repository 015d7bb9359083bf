// Random values of the fields of a run for property tests. Tests only.
#pragma once

#include <rapidcheck/gtest.h>

#include <algorithm>

#include "layout/fields.hpp"

namespace headway::testing {

inline std::int64_t power_of_two(int most) {
  return std::int64_t{1} << *rc::gen::inRange(0, most + 1);
}

/// A number that may be given for a field; small where it counts something.
inline double any_number(const FieldForm& form) {
  using Kind = FieldForm::Kind;
  const auto below = [](std::size_t end) {
    return static_cast<double>(*rc::gen::inRange<std::size_t>(0, end));
  };
  switch (form.kind) {
    case Kind::name:
      return below(form.names.size());
    case Kind::names:
      return below(std::size_t{1} << form.names.size());
    case Kind::flag:
      return below(2);
    case Kind::whole:
      return std::min(form.most, form.least - 1 + static_cast<double>(power_of_two(12)));
    case Kind::number:
      return std::min(form.most, form.least + 0.25 * below(5));
    case Kind::month:
      return 2021 + below(5) + (below(12) + 0.5) / 12;
    case Kind::bytes:
      return std::min(form.most, 1024.0 * static_cast<double>(power_of_two(20)));
    case Kind::text:
    case Kind::model:
    case Kind::cluster:
    case Kind::own_runs:
    case Kind::amount:
    case Kind::list:
      break;
  }
  return 0;
}

}  // namespace headway::testing

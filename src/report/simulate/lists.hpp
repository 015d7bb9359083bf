// Lists of numbers and texts in documents. Internal to src/report/simulate.
#pragma once

#include <string_view>
#include <vector>

#include "base/quantity.hpp"
#include "report/json/writer.hpp"

namespace headway {

template <class T>
void list(JsonWriter& out, std::string_view name, const std::vector<T>& values) {
  out.key(name);
  out.begin_array();
  for (const T& value : values) {
    if constexpr (requires { value.value(); }) {
      out.value(value.value());
    } else {
      out.value(value);
    }
  }
  out.end_array();
}

}  // namespace headway

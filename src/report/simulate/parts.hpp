// The parts of a step as a member of JSON. Internal to src/report/simulate.
#pragma once

#include <string_view>

#include "forecast/parts.hpp"
#include "report/json/writer.hpp"

namespace headway {

inline void write_parts(JsonWriter& out, std::string_view name, const Parts& parts) {
  out.key(name);
  out.begin_object();
  for (const PartRow& row : kParts) out.member(row.name, parts[row.part].value());
  out.end_object();
}

}  // namespace headway

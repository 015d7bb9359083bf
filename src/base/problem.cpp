#include "base/problem.hpp"

namespace headway {

std::string where_text(const Where& where) {
  const auto& [fields, place] = where;
  std::string out = place.file;
  if (place.line > 0) out += ":" + std::to_string(place.line);
  std::string_view before = out.empty() || fields.empty() ? "" : ": ";
  for (const FieldName& field : fields) {
    out += before;
    if (place.kind == Place::Kind::argument) out += "--";
    out += field.name;
    if (!field.given.empty()) out += " " + field.given;
    before = ", ";
  }
  return out;
}

}  // namespace headway

// What is asked of the table, whatever its rows.
#include "study/infer/question/options.hpp"

#include <vector>

namespace headway {

std::span<const RunField> serving_fields() {
  static const std::vector<RunField> out = [] {
    std::vector<RunField> fields;
    for (const ServingOption& row : serving_options()) {
      fields.push_back(row.field);
      fields.back().help = help_text(row.field);
    }
    return fields;
  }();
  return out;
}

}  // namespace headway

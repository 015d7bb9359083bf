#include "report/words.hpp"

#include <cstdio>

#include "base/quantity_text.hpp"

namespace headway {

std::string short_count_text(double value) {
  if (value >= 1e7) {
    char text[64];
    const bool billions = value >= 1e9, trillions = value >= 1e12;
    std::snprintf(text, sizeof text, "%.3g %s",
                  value / (trillions  ? 1e12
                           : billions ? 1e9
                                      : 1e6),
                  trillions  ? "T"
                  : billions ? "B"
                             : "M");
    return text;
  }
  return count_text(value);
}

}  // namespace headway

#include <cmath>

#include "base/quantity_text.hpp"
#include "document_checks.hpp"
#include "targets.hpp"

namespace {

template <class Q>
void read(std::string_view text) {
  const headway::Result<Q> quantity = headway::parse_quantity<Q>(text, "field");
  if (!quantity) return headway::fuzz::check(quantity.problems());
  headway::fuzz::require(std::isfinite(quantity->value()));
  const std::string shown = to_text(*quantity);
  headway::fuzz::require(headway::fuzz::harmless(shown) && shown.find(' ') != std::string::npos);
}

}  // namespace

void headway::fuzz::quantity(std::string_view text) {
  read<headway::Seconds>(text);
  read<headway::Bytes>(text);
  read<headway::Flops>(text);
  read<headway::Joules>(text);
  read<headway::BytesPerSecond>(text);
  read<headway::FlopsPerSecond>(text);
  read<headway::Watts>(text);
}

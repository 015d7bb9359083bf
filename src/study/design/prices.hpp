// What the parts of machines cost, by the ends of what is published. Formulas:
// docs/models/design.md.
#pragma once

#include <optional>

#include "study/design/technology.hpp"

namespace headway {

/// [DESIGN-9] US$ of a die of so many mm2, in a node whose wafer has a price; nothing where no
/// wafer holds one.
std::optional<PriceRange> price_of_die(const LogicNode& node, double area);

/// Logic, memory and package of an accelerator.
struct PricedParts {
  const LogicNode* node = nullptr;
  std::int64_t dies = 1;
  double area = 0;  // mm2, of each
  const MemoryTechnology* memory = nullptr;
  Bytes capacity;
  const Package* package = nullptr;  // null: none
};
/// [DESIGN-9] US$ of them, where all have a price.
std::optional<PriceRange> price_of_parts(const PricedParts& parts);

/// [DESIGN-11] US$ of an accelerator's share of a network of so many, a card each, of switches with
/// one port for each of a domain's; nothing where its pieces have no price.
std::optional<PriceRange> price_of_network(const LinkTechnology& network, std::int64_t accelerators,
                                           std::int64_t domain);

}  // namespace headway

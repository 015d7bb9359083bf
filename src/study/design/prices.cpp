#include "study/design/prices.hpp"

#include <cmath>
#include <numbers>

namespace headway {

// Dies of a wafer by its area less its edge. From all of them sold, what is defect fused off, to
// none sold that has a defect.
std::optional<PriceRange> price_of_die(const LogicNode& node, double area) {
  constexpr double kRadius = 150;  // mm
  constexpr double kPi = std::numbers::pi;
  const double dies = kPi * kRadius * kRadius / area - 2 * kPi * kRadius / std::sqrt(2 * area);
  if (dies < 1) return std::nullopt;
  const double sound = std::exp(-node.defects * area / 100);
  return PriceRange{node.wafer->low / dies, node.wafer->high / dies / sound};
}

std::optional<PriceRange> price_of_parts(const PricedParts& parts) {
  const MemoryTechnology& memory = *parts.memory;
  if (!parts.node->wafer || (!memory.on_die() && !memory.price)) return std::nullopt;
  const auto die = price_of_die(*parts.node, parts.area);
  if (!die) return std::nullopt;
  const double count = static_cast<double>(parts.dies);
  PriceRange out = *die * count;
  if (memory.on_die()) return out;
  constexpr double kGib = 1024.0 * 1024 * 1024;
  out = out + *memory.price * (parts.capacity.value() / kGib);
  if (parts.package != nullptr && parts.package->price) {
    out = out + *parts.package->price * (count * parts.area);
  }
  return out;
}

// Each accelerator of a domain has a rail of its own, which reaches as many domains as its switches
// of 64 ports: one layer 64, each further one half of its ports times as many. Nothing is
// oversubscribed: of L layers an accelerator has a card, 2·L - 1 ports and 2·L transceivers.
std::optional<PriceRange> price_of_network(const LinkTechnology& network, std::int64_t accelerators,
                                           std::int64_t domain) {
  if (!network.pieces) return std::nullopt;
  constexpr double kPorts = 64;
  const double domains =
      std::ceil(static_cast<double>(accelerators) / static_cast<double>(domain > 0 ? domain : 1));
  double layers = 1;
  for (double reach = kPorts; reach < domains; reach *= kPorts / 2) ++layers;
  const NetworkPieces& pieces = *network.pieces;
  return pieces.card + pieces.port * (2 * layers - 1) + pieces.transceiver * (2 * layers);
}

}  // namespace headway

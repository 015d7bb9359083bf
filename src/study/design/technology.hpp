// The technologies that machines are made of (data/technology), and what known accelerators are
// made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cluster/cluster.hpp"

namespace headway {

/// Joules of a bit, as far as sources agree.
struct EnergyPerBit {
  double low = 0, high = 0;

  /// Of so many bytes a second.
  Watts least(BytesPerSecond rate) const { return Watts(low * 8 * rate.value()); }
  Watts most(BytesPerSecond rate) const { return Watts(high * 8 * rate.value()); }
};

/// US$, as far as sources agree.
struct PriceRange {
  double low = 0, high = 0;

  double middle() const { return (low + high) / 2; }
  PriceRange operator*(double by) const { return {low * by, high * by}; }
  PriceRange operator+(const PriceRange& other) const {
    return {low + other.low, high + other.high};
  }
};

/// [DESIGN-10] mm2 of a logic die that an interface takes: the analogue part, which no node
/// shrinks, and what controls it, in the reference node.
struct InterfaceArea {
  double phy = 0, control = 0;
  bool operator==(const InterfaceArea&) const = default;
};

/// A generation of memory: of a stack, a device, a square millimetre.
struct MemoryTechnology {
  std::string name, title, unit;
  std::int64_t width = 0;    // data wires of a unit; 0: on the die itself
  BytesPerSecond pin_rate;   // of a wire, by the standard
  BytesPerSecond fastest;    // that is sold
  BytesPerSecond bandwidth;  // of a unit
  Bytes capacity;            // of a unit
  std::string package;       // what carries its wires; empty: none
  std::string node;          // on the die itself: in which these numbers hold
  EnergyPerBit energy;
  std::optional<PriceRange> price;         // of a GiB; on the die itself it is the die's
  std::optional<InterfaceArea> interface;  // of a unit

  bool on_die() const { return width == 0; }
};

/// [DESIGN-11] US$ of what a network is made of, each for one accelerator's rate.
struct NetworkPieces {
  PriceRange card, transceiver, port;
};

struct LinkTechnology {
  std::string name, title;
  bool inner = true;    // between the accelerators of a node, not beyond
  std::string network;  // whose constants of collectives hold
  BytesPerSecond bandwidth;
  Seconds latency;
  bool sums = false;
  Topology topology = Topology::switched;
  EnergyPerBit energy;
  std::optional<InterfaceArea> interface;  // of all that an accelerator has
  std::optional<PriceRange> price;         // of an accelerator's, with its switches and cables,
  std::int64_t price_domain = 0;           // in a domain of so many
  std::optional<NetworkPieces> pieces;     // beyond
};

/// Logic in a square millimetre, bits of SRAM, and what the same circuits draw, over those of the
/// reference node.
struct LogicNode {
  std::string name, title;
  double density = 1, sram = 1, power = 1;
  std::optional<PriceRange> wafer;  // of 300 mm
  double defects = 0;               // a cm2, where the wafer has a price

  /// mm2 of it.
  double area_of(const InterfaceArea& interface) const {
    return interface.phy + interface.control / density;
  }
};

struct Package {
  std::string name;
  double wires_per_mm = 0;
  std::optional<PriceRange> price;  // of a mm2 of logic on it
};

/// The logic dies of an accelerator.
struct Dies {
  const LogicNode* node = nullptr;
  std::int64_t count = 1;
  double area = 0;                   // mm2, of each
  double arithmetic = 0, cache = 0;  // shares of it
};

/// [DESIGN-6] What an accelerator is made of.
struct MachineParts {
  std::string accelerator;
  const MemoryTechnology* memory = nullptr;
  std::int64_t units = 0, interfaces = 0;  // of memory; and to so many its dies could have
  BytesPerSecond pin_rate;                 // as the board runs it
  Bytes unit_capacity;
  std::optional<Dies> dies;  // where one kind of die is stated
  double within = 0;         // how near these come to the data sheet, as a share
};

struct Technologies {
  std::vector<MemoryTechnology> memories;
  std::vector<LinkTechnology> links;
  std::vector<LogicNode> nodes;
  std::vector<Package> packages;
  std::vector<MachineParts> machines;
};

/// The one of that name, or null.
template <class T>
const T* named(const std::vector<T>& all, std::string_view name) {
  for (const T& each : all) {
    if (each.name == name) return &each;
  }
  return nullptr;
}
template <class T>
std::vector<std::string> names_of(const std::vector<T>& all) {
  std::vector<std::string> out;
  for (const T& each : all) out.push_back(each.name);
  return out;
}

/// From data/technology, in its order.
const Result<Technologies>& technologies();

/// What the accelerator is made of; null: not known.
const MachineParts* parts_of(const Technologies& of, const Accelerator& accelerator);

}  // namespace headway

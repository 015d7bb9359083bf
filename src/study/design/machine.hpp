// A machine as a value: a known one with parts of it replaced. Formulas: docs/models/design.md.
#pragma once

#include <optional>
#include <string>

#include "study/design/prices.hpp"

namespace headway {

/// What of a machine is otherwise; nothing: as it is. Numbers hold over what technologies come to.
struct MachineChoice {
  const MemoryTechnology* memory = nullptr;
  std::optional<std::int64_t> units = {};   // of memory
  const Package* package = nullptr;         // what carries its wires
  const LinkTechnology* link = nullptr;     // of the innermost level
  std::optional<std::int64_t> domain = {};  // accelerators of its domains
  const LinkTechnology* network = nullptr;  // of the levels beyond
  const LogicNode* node = nullptr;
  std::optional<double> area = {};          // mm2 of each logic die
  std::optional<double> arithmetic = {};    // its share of the area, taken from the cache
  std::optional<Watts> power = {};          // that the accelerator may draw
  std::optional<FlopsPerSecond> peak = {};  // in 16 bit; other formats in proportion
  std::optional<BytesPerSecond> bandwidth = {}, link_bandwidth = {}, network_bandwidth = {};
  std::optional<Bytes> capacity = {};
  std::optional<Seconds> link_latency = {}, network_latency = {};
  // Joules of a bit, in place of the range of its technology.
  std::optional<double> memory_energy = {}, link_energy = {}, network_energy = {};
};

struct BuiltMachine {
  Cluster cluster;
  Watts least_power, most_power;  // of an accelerator, by the ends of what a bit takes
  std::optional<double> area;     // mm2 of logic, of an accelerator; where it is known
  /// [DESIGN-9] US$ of its logic, memory and package, where all have a price.
  std::optional<PriceRange> parts;
  std::string impossible;  // why it cannot be built; empty: it can
};

/// [DESIGN-3] to [DESIGN-7], [DESIGN-9], [DESIGN-10]. Problems: constants of its network that
/// nobody knows.
Result<BuiltMachine> assemble(const Cluster& base, const MachineChoice& choice);

/// The technology of a level, by the class of its network; null: not among those known.
const LinkTechnology* technology_of(const Level& level, const Technologies& known);

/// In 16 bit.
FlopsPerSecond peak_in_16_bit(const Accelerator& accelerator);

}  // namespace headway

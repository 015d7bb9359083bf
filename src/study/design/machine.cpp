#include "study/design/machine.hpp"

#include <algorithm>
#include <cmath>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "study/sweep/axes.hpp"

namespace headway {
namespace {

void set_bandwidth(Level& level, BytesPerSecond to) {
  level.port_bandwidth *= to / level.bandwidth;
  level.bandwidth = to;
}

void set_link(Level& level, const LinkTechnology& link) {
  level.network = link.network;
  level.latency = link.latency;
  level.in_network_reduction = link.sums;
  level.nics_on_processor = false;
  level.constants = {};
  level.slowed = 1;
}

Problems set_latency(Level& level, Seconds to) {
  Problems problems = slow_down(level, to / level.latency);
  level.latency = to;
  return problems;
}

// What memory and links of an accelerator draw, by the ends of what a bit takes.
struct MovingPower {
  Watts least{}, most{};
  Watts middle() const { return (least + most) / 2; }
  void add(const EnergyPerBit& energy, BytesPerSecond rate) {
    least += energy.least(rate);
    most += energy.most(rate);
  }
};

class Assembler {
 public:
  Assembler(const Cluster& base, const MachineChoice& choice, const Technologies& known)
      : base_(base), choice_(choice), known_(known), parts_(parts_of(known, base.accelerator)) {
    out_.cluster = base;
  }

  Result<BuiltMachine> run() {
    levels();
    memory();
    logic();
    power();
    price();
    if (!problems_.empty()) return problems_;
    return std::move(out_);
  }

 private:
  Accelerator& accelerator() { return out_.cluster.accelerator; }
  bool has_dies() const { return parts_ != nullptr && parts_->dies.has_value(); }
  double area() const { return choice_.area.value_or(parts_->dies->area); }
  void impossible(std::string why) {
    if (out_.impossible.empty()) out_.impossible = std::move(why);
  }

  // [DESIGN-4] The innermost level, and those beyond it in proportion.
  void levels() {
    std::vector<Level>& all = out_.cluster.levels;
    Level& inner = all.front();
    if (choice_.link != nullptr) {
      set_link(inner, *choice_.link);
      inner.topology = choice_.link->topology;
      set_bandwidth(inner, choice_.link->bandwidth);
    }
    if (choice_.link_bandwidth) set_bandwidth(inner, *choice_.link_bandwidth);
    if (choice_.link_latency) append(problems_, set_latency(inner, *choice_.link_latency));
    if (all.size() > 1) {
      const LinkTechnology* network = choice_.network;
      const BytesPerSecond before = all[1].bandwidth;
      const BytesPerSecond after =
          choice_.network_bandwidth.value_or(network != nullptr ? network->bandwidth : before);
      for (std::size_t i = 1; i < all.size(); ++i) {
        if (network != nullptr) set_link(all[i], *network);
        set_bandwidth(all[i], all[i].bandwidth * (after / before));
        if (choice_.network_latency) {
          append(problems_, set_latency(all[i], *choice_.network_latency));
        }
      }
    }
    if (choice_.domain) {
      inner.size = *choice_.domain;
      inner.usable = 0;
      settle_sizes(out_.cluster);
    }
  }

  // [DESIGN-3] Units of memory: what they hold and carry; the die's edge must hold their wires.
  void memory() {
    const MemoryTechnology* memory = choice_.memory;
    if (parts_ != nullptr && (memory != nullptr || choice_.units || choice_.package != nullptr)) {
      if (memory == nullptr) memory = parts_->memory;
      const bool same = memory == parts_->memory;
      double units = static_cast<double>(choice_.units.value_or(parts_->units));
      Bytes unit = same ? parts_->unit_capacity : memory->capacity;
      BytesPerSecond each =
          same ? static_cast<double>(memory->width) * parts_->pin_rate : memory->bandwidth;
      if (memory->on_die()) {
        // Of the cache's area, of which the bits are as dense as the node has them.
        units = static_cast<double>(parts_->dies->count) * area() * std::max(0.0, cache_share());
        unit = unit * (node().sram / named(known_.nodes, memory->node)->sram);
      } else {
        check_wires(*memory, units);
      }
      accelerator().memory = units * unit;
      accelerator().memory_bandwidth = units * each;
    }
    if (choice_.capacity) accelerator().memory = *choice_.capacity;
    if (choice_.bandwidth) accelerator().memory_bandwidth = *choice_.bandwidth;
  }

  // Memory has half of the edges of all dies.
  void check_wires(const MemoryTechnology& memory, double units) {
    const Package* package =
        choice_.package != nullptr ? choice_.package : named(known_.packages, memory.package);
    if (package == nullptr || !has_dies()) return;
    const double edge = static_cast<double>(parts_->dies->count) * 4 * std::sqrt(area()) / 2;
    const double wires = edge * package->wires_per_mm;
    const double needed = units * static_cast<double>(memory.width);
    if (needed > wires) {
      impossible(count_text(needed) + " wires to memory; the edge of the dies has " +
                 count_text(wires) + " on the " + package->name);
    }
  }

  const LogicNode& node() const {
    return choice_.node != nullptr ? *choice_.node : *parts_->dies->node;
  }

  double arithmetic_share() const { return choice_.arithmetic.value_or(parts_->dies->arithmetic); }
  double cache_share() const {
    return parts_->dies->arithmetic + parts_->dies->cache - arithmetic_share();
  }

  // [DESIGN-10] mm2 of all interfaces of the dies whose area is known, as they are and as chosen.
  // What replaces one of unknown area takes as much.
  struct Interfaces {
    double before = 0, after = 0;
  };
  Interfaces interfaces() const {
    Interfaces out;
    const Dies& dies = *parts_->dies;
    const auto add = [&](const std::optional<InterfaceArea>& was, double as_many,
                         const std::optional<InterfaceArea>& now, double so_many) {
      if (!was || !now) return;
      out.before += as_many * dies.node->area_of(*was);
      out.after += so_many * node().area_of(*now);
    };
    const MemoryTechnology& memory = choice_.memory != nullptr ? *choice_.memory : *parts_->memory;
    // A die whose memory has the same interfaces keeps those that it has, used or not.
    const std::int64_t units = choice_.units.value_or(parts_->units);
    const bool alike = memory.interface && memory.interface == parts_->memory->interface;
    add(parts_->memory->interface, static_cast<double>(parts_->interfaces), memory.interface,
        static_cast<double>(alike ? std::max(units, parts_->interfaces) : units));
    const LinkTechnology* was = technology_of(base_.levels.front(), known_);
    const LinkTechnology* now = choice_.link != nullptr ? choice_.link : was;
    if (was != nullptr) add(was->interface, 1, now->interface, 1);
    return out;
  }

  // [DESIGN-5] Units of arithmetic as many as their area holds, each as fast as before: of the area
  // its share, and [DESIGN-10] what interfaces take less or more.
  void logic() {
    if (!has_dies()) return;
    const Dies& dies = *parts_->dies;
    const double count = static_cast<double>(dies.count);
    out_.area = count * area();
    constexpr double kReticle = 26 * 33;  // mm2 that a lithographic field has
    if (area() > kReticle) {
      return impossible("a die of " + count_text(area()) + " mm2; a reticle has " +
                        count_text(kReticle));
    }
    if (cache_share() <= 0) {
      return impossible("arithmetic leaves the cache nothing of " +
                        percent_text(dies.arithmetic + dies.cache) + " of the area");
    }
    const Interfaces takes = interfaces();
    const double spare = takes.before * (area() / dies.area) - takes.after;
    const double arithmetic = *out_.area * arithmetic_share() + spare;
    if (arithmetic <= 0) {
      return impossible("interfaces to memory and links take " + count_text(takes.after) +
                        " mm2, which leave arithmetic nothing");
    }
    const double more =
        arithmetic / (count * dies.area * dies.arithmetic) * (node().density / dies.node->density);
    for (FlopsPerSecond& peak : accelerator().peak) peak *= more;
    accelerator().compute_units = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(base_.accelerator.compute_units) * more));
    const double bits =
        area() / dies.area * (cache_share() / dies.cache) * (node().sram / dies.node->sram);
    accelerator().cache = base_.accelerator.cache * bits;
  }

  // By what technologies take, or by what is chosen.
  MovingPower moving(const Cluster& of, const MemoryTechnology* memory,
                     const MachineChoice& choice) const {
    MovingPower out;
    const auto add = [&](const std::optional<double>& chosen, const EnergyPerBit* known,
                         BytesPerSecond rate) {
      if (chosen) {
        out.add({*chosen, *chosen}, rate);
      } else if (known != nullptr) {
        out.add(*known, rate);
      }
    };
    add(choice.memory_energy, memory != nullptr ? &memory->energy : nullptr,
        of.accelerator.memory_bandwidth);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, of.levels.size()); ++i) {
      const LinkTechnology* chosen = i == 0 ? choice.link : choice.network;
      const LinkTechnology* link =
          chosen != nullptr ? chosen : technology_of(base_.levels[i], known_);
      add(i == 0 ? choice.link_energy : choice.network_energy,
          link != nullptr ? &link->energy : nullptr, of.levels[i].bandwidth);
    }
    return out;
  }

  // What an operation takes, over the base's.
  double energy_ratio() const {
    return choice_.node != nullptr ? choice_.node->power / parts_->dies->node->power : 1.0;
  }

  // [DESIGN-7] What is not memory's and links' is arithmetic's, in proportion to its rate and to
  // what an operation takes in its node. Within a budget arithmetic is as fast as what is left
  // allows, and no faster than its area.
  void power() {
    const MemoryTechnology* was = parts_ != nullptr ? parts_->memory : nullptr;
    const MovingPower before = moving(base_, was, {});
    const MovingPower after =
        moving(out_.cluster, choice_.memory != nullptr ? choice_.memory : was, choice_);
    const Watts tdp = base_.accelerator.tdp;
    const auto peak = [](const Cluster& of) { return peak_in_16_bit(of.accelerator); };
    const auto scale_peak = [&](double factor) {
      for (FlopsPerSecond& each : accelerator().peak) each *= factor;
    };
    if (choice_.peak) {
      scale_peak(*choice_.peak / peak(out_.cluster));
    } else if (choice_.power) {
      const Watts left = *choice_.power - after.middle();
      if (left <= Watts(0)) {
        return impossible("memory and links alone draw " + to_text(after.middle()));
      }
      const FlopsPerSecond allowed =
          peak(base_) * (left / (tdp - before.middle()) / energy_ratio());
      if (allowed < peak(out_.cluster)) scale_peak(allowed / peak(out_.cluster));
    }
    const double more = peak(out_.cluster) / peak(base_) * energy_ratio();
    const auto drawn = [&](Watts old_moving, Watts new_moving) {
      return (tdp - old_moving) * more + new_moving;
    };
    const Watts one = drawn(before.least, after.least), other = drawn(before.most, after.most);
    out_.least_power = std::min(one, other);
    out_.most_power = std::max(one, other);
    // The accelerator keeps the power of its data sheet: peaks are of what this leaves, and another
    // board's would scale them once more [FORECAST-12].
  }

  // [DESIGN-9] Numbers in place of parts have no price.
  void price() {
    if (!has_dies() || choice_.peak || choice_.bandwidth || choice_.capacity) return;
    const MemoryTechnology& memory = choice_.memory != nullptr ? *choice_.memory : *parts_->memory;
    const Package* package =
        choice_.package != nullptr ? choice_.package : named(known_.packages, memory.package);
    out_.parts = price_of_parts(
        {&node(), parts_->dies->count, area(), &memory, accelerator().memory, package});
  }

  const Cluster& base_;
  const MachineChoice& choice_;
  const Technologies& known_;
  const MachineParts* parts_;
  BuiltMachine out_;
  Problems problems_;
};

}  // namespace

// Several generations may share the constants of one class: the one of the nearest bandwidth.
const LinkTechnology* technology_of(const Level& level, const Technologies& known) {
  const LinkTechnology* out = nullptr;
  const auto apart = [&](const LinkTechnology& link) {
    return std::abs(std::log(link.bandwidth / level.bandwidth));
  };
  for (const LinkTechnology& link : known.links) {
    if (level.network != link.network && !level.network.starts_with(link.network + "-")) continue;
    if (out == nullptr || apart(link) < apart(*out)) out = &link;
  }
  return out;
}

FlopsPerSecond peak_in_16_bit(const Accelerator& accelerator) {
  return std::max(accelerator.peak_of(Precision::bf16), accelerator.peak_of(Precision::fp16));
}

Result<BuiltMachine> assemble(const Cluster& base, const MachineChoice& choice) {
  const auto& known = technologies();
  if (!known) return known.problems();
  return Assembler(base, choice, *known).run();
}

}  // namespace headway

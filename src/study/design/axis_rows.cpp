// The one table of what may be varied.
#include <cmath>
#include <optional>

#include "base/formatted.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "study/design/axes.hpp"

namespace headway {
namespace {

std::optional<double> number_of_text(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  return real_number(text);
}

template <class Q>
Result<double> read_quantity(const std::string& text, const Where& where) {
  const auto out = parse_quantity<Q>(text, where);
  if (!out) return out.problems();
  if (!(out->value() > 0)) return Problem{where, "must be greater than zero"};
  return out->value();
}
template <class Q>
std::string write_quantity(double value) {
  return to_text(Q(value));
}

Result<double> read_count(const std::string& text, const Where& where) {
  const auto out = whole_number(text);
  if (!out || *out < 1 || *out > 1'000'000) {
    return Problem{where, "'" + text + "' is no whole number from 1 to 1,000,000",
                   Trouble::malformed};
  }
  return static_cast<double>(*out);
}
std::string write_count(double value) {
  return count_text(value);
}

// "814 mm2".
Result<double> read_area(const std::string& text, const Where& where) {
  constexpr std::string_view kUnit = "mm2";
  const std::size_t at = text.find(kUnit);
  std::optional<double> number;
  if (at != std::string::npos && at + kUnit.size() == text.size()) {
    number = number_of_text(std::string_view(text).substr(0, at));
  }
  if (!number || !(*number >= 1 && *number <= 1e5)) {
    return Problem{where, "'" + text + "' is no area of 1 to 100,000 mm2, as 814mm2",
                   Trouble::malformed};
  }
  return *number;
}
std::string write_area(double value) {
  return formatted("%.4g mm2", value);
}

Result<double> read_share(const std::string& text, const Where& where) {
  const auto number = number_of_text(text);
  if (!number || !(*number > 0 && *number < 1)) {
    return Problem{where, "'" + text + "' is no share between 0 and 1", Trouble::malformed};
  }
  return *number;
}
std::string write_share(double value) {
  return formatted("%.3g", value);
}

// "4.5pJ" of a bit, in joules.
Result<double> read_energy(const std::string& text, const Where& where) {
  constexpr std::string_view kUnit = "pJ";
  std::optional<double> number;
  if (text.size() > kUnit.size() && text.ends_with(kUnit)) {
    number = number_of_text(std::string_view(text).substr(0, text.size() - kUnit.size()));
  }
  if (!number || !(*number >= 1e-3 && *number <= 1e4)) {
    return Problem{where, "'" + text + "' is no energy of a bit, 0.001 to 10,000 pJ, as 4.5pJ",
                   Trouble::malformed};
  }
  return *number * 1e-12;
}
std::string write_energy(double value) {
  return formatted("%.3g pJ", value * 1e12);
}

template <class T>
Result<double> read_name(const std::vector<T> Technologies::*all, const std::string& text,
                         const Where& where) {
  const auto& known = technologies();
  if (!known) return known.problems();
  const T* found = named((*known).*all, text);
  if (found == nullptr) {
    return Problem{where, not_known(text, names_of((*known).*all)), Trouble::unknown};
  }
  return static_cast<double>(found - ((*known).*all).data());
}
Result<double> read_link_name(bool inner, const std::string& text, const Where& where) {
  const auto& known = technologies();
  if (!known) return known.problems();
  std::vector<std::string> names;
  for (const LinkTechnology& link : known->links) {
    if (link.inner != inner) continue;
    if (link.name == text) return static_cast<double>(&link - known->links.data());
    names.push_back(link.name);
  }
  return Problem{where, not_known(text, names), Trouble::unknown};
}

std::size_t place(double value) {
  return static_cast<std::size_t>(value);
}

const std::vector<AxisRow> kRows = {
    {"memory", "generation of memory", AxisOf::memory,
     [](const std::string& text, const Where& where) {
       return read_name(&Technologies::memories, text, where);
     },
     nullptr,
     [](MachineChoice& choice, double value, const Technologies& known) {
       choice.memory = &known.memories[place(value)];
     }},
    {"units", "stacks or devices of memory", AxisOf::memory, read_count, write_count,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.units = std::llround(value);
     },
     true},
    {"package", "what carries the wires of memory", AxisOf::memory,
     [](const std::string& text, const Where& where) {
       return read_name(&Technologies::packages, text, where);
     },
     nullptr,
     [](MachineChoice& choice, double value, const Technologies& known) {
       choice.package = &known.packages[place(value)];
     },
     false, true},
    {"bandwidth", "of memory", AxisOf::memory, read_quantity<BytesPerSecond>,
     write_quantity<BytesPerSecond>,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.bandwidth = BytesPerSecond(value);
     }},
    {"capacity", "of memory", AxisOf::memory, read_quantity<Bytes>, write_quantity<Bytes>,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.capacity = Bytes(value);
     }},
    {"memory-energy", "of a bit that memory reads or writes", AxisOf::memory, read_energy,
     write_energy,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.memory_energy = value;
     }},
    {"link", "between the accelerators of a node", AxisOf::link,
     [](const std::string& text, const Where& where) { return read_link_name(true, text, where); },
     nullptr,
     [](MachineChoice& choice, double value, const Technologies& known) {
       choice.link = &known.links[place(value)];
     }},
    {"link-bandwidth", "of an accelerator, one way", AxisOf::link, read_quantity<BytesPerSecond>,
     write_quantity<BytesPerSecond>,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.link_bandwidth = BytesPerSecond(value);
     }},
    {"link-latency", "of a message", AxisOf::link, read_quantity<Seconds>, write_quantity<Seconds>,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.link_latency = Seconds(value);
     }},
    {"link-energy", "of a bit that the links carry", AxisOf::link, read_energy, write_energy,
     [](MachineChoice& choice, double value, const Technologies&) { choice.link_energy = value; }},
    {"domain", "accelerators that the links join", AxisOf::link, read_count, write_count,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.domain = std::llround(value);
     },
     true},
    {"network", "beyond the links", AxisOf::network,
     [](const std::string& text, const Where& where) { return read_link_name(false, text, where); },
     nullptr,
     [](MachineChoice& choice, double value, const Technologies& known) {
       choice.network = &known.links[place(value)];
     }},
    {"network-bandwidth", "of an accelerator, one way", AxisOf::network,
     read_quantity<BytesPerSecond>, write_quantity<BytesPerSecond>,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.network_bandwidth = BytesPerSecond(value);
     }},
    {"network-latency", "of a message", AxisOf::network, read_quantity<Seconds>,
     write_quantity<Seconds>,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.network_latency = Seconds(value);
     }},
    {"network-energy", "of a bit that the network carries", AxisOf::network, read_energy,
     write_energy,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.network_energy = value;
     }},
    {"node", "of logic", AxisOf::logic,
     [](const std::string& text, const Where& where) {
       return read_name(&Technologies::nodes, text, where);
     },
     nullptr,
     [](MachineChoice& choice, double value, const Technologies& known) {
       choice.node = &known.nodes[place(value)];
     },
     false, true},
    {"area", "of each logic die", AxisOf::logic, read_area, write_area,
     [](MachineChoice& choice, double value, const Technologies&) { choice.area = value; }, false,
     true},
    {"arithmetic", "its share of the dies, taken from the cache", AxisOf::logic, read_share,
     write_share,
     [](MachineChoice& choice, double value, const Technologies&) { choice.arithmetic = value; },
     false, true},
    {"peak", "in 16 bit, other formats in proportion", AxisOf::logic, read_quantity<FlopsPerSecond>,
     write_quantity<FlopsPerSecond>,
     [](MachineChoice& choice, double value, const Technologies&) {
       choice.peak = FlopsPerSecond(value);
     }},
    {"power", "that an accelerator may draw", AxisOf::power, read_quantity<Watts>,
     write_quantity<Watts>,
     [](MachineChoice& choice, double value, const Technologies&) { choice.power = Watts(value); }},
};

}  // namespace

std::span<const AxisRow> axis_rows() {
  return kRows;
}

}  // namespace headway

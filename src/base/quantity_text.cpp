#include "base/quantity_text.hpp"

#include <charconv>
#include <cmath>
#include <span>

#include "base/formatted.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

struct Unit {
  std::string_view name;
  double si;
};

constexpr double kKibi = 1024.0;
constexpr Unit kSeconds[] = {{"s", 1},     {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6},
                             {"ns", 1e-9}, {"min", 60},  {"h", 3600},  {"d", 86400}};
constexpr Unit kBytes[] = {{"B", 1},
                           {"kB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9},
                           {"TB", 1e12},
                           {"PB", 1e15},
                           {"KiB", kKibi},
                           {"MiB", kKibi* kKibi},
                           {"GiB", kKibi* kKibi* kKibi},
                           {"TiB", kKibi* kKibi* kKibi* kKibi}};
constexpr Unit kFlops[] = {{"FLOP", 1},     {"kFLOP", 1e3},  {"MFLOP", 1e6}, {"GFLOP", 1e9},
                           {"TFLOP", 1e12}, {"PFLOP", 1e15}, {"EFLOP", 1e18}};
constexpr Unit kJoules[] = {{"J", 1}, {"kJ", 1e3}, {"MJ", 1e6}, {"kWh", 3.6e6}, {"MWh", 3.6e9}};
constexpr Unit kBandwidths[] = {{"B/s", 1},
                                {"kB/s", 1e3},
                                {"MB/s", 1e6},
                                {"GB/s", 1e9},
                                {"TB/s", 1e12},
                                {"PB/s", 1e15},
                                {"KiB/s", kKibi},
                                {"MiB/s", kKibi* kKibi},
                                {"GiB/s", kKibi* kKibi* kKibi},
                                {"TiB/s", kKibi* kKibi* kKibi* kKibi},
                                {"Mb/s", 1e6 / 8},
                                {"Gb/s", 1e9 / 8},
                                {"Tb/s", 1e12 / 8}};
constexpr Unit kRates[] = {{"FLOP/s", 1},     {"kFLOP/s", 1e3},  {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9},
                           {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}};
constexpr Unit kWatts[] = {{"W", 1}, {"kW", 1e3}, {"MW", 1e6}};

std::span<const Unit> units(Seconds) {
  return kSeconds;
}
std::span<const Unit> units(Bytes) {
  return kBytes;
}
std::span<const Unit> units(Flops) {
  return kFlops;
}
std::span<const Unit> units(Joules) {
  return kJoules;
}
std::span<const Unit> units(BytesPerSecond) {
  return kBandwidths;
}
std::span<const Unit> units(FlopsPerSecond) {
  return kRates;
}
std::span<const Unit> units(Watts) {
  return kWatts;
}

std::string unit_list(std::span<const Unit> known) {
  std::string out;
  for (const Unit& unit : known) {
    if (!out.empty()) out += ", ";
    out += unit.name;
  }
  return out;
}

// The number with three significant digits where it is below 1000, and none behind the point above.
std::string rounded(double value) {
  int decimals = 2;
  for (double limit = 9.995; decimals > 0 && std::abs(value) >= limit; limit *= 10) --decimals;
  return std::abs(value) < 1e6 ? formatted("%.*f", decimals, value) : formatted("%.2e", value);
}

std::string scaled(double value, const char* suffix, std::span<const Unit> prefixes) {
  if (value == 0 || !std::isfinite(value)) {
    return (value == 0          ? "0"
            : std::isnan(value) ? "nan"
            : value > 0         ? "inf"
                                : "-inf") +
           (" " + std::string(suffix));
  }
  const Unit* chosen = &prefixes.front();
  for (const Unit& prefix : prefixes) {
    // What would be shown as 1000 of the smaller unit is 1.00 of this one.
    if (std::abs(value) >= prefix.si * (1 - 0.0005)) chosen = &prefix;
  }
  return rounded(value / chosen->si) + " " + std::string(chosen->name) + suffix;
}

constexpr Unit kDecimal[] = {{"", 1},     {"k", 1e3},  {"M", 1e6}, {"G", 1e9},
                             {"T", 1e12}, {"P", 1e15}, {"E", 1e18}};
constexpr Unit kBinary[] = {{"", 1},
                            {"Ki", kKibi},
                            {"Mi", kKibi* kKibi},
                            {"Gi", kKibi* kKibi* kKibi},
                            {"Ti", kKibi* kKibi* kKibi* kKibi}};
constexpr Unit kSmall[] = {{"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"", 1}};

}  // namespace

template <class Q>
Result<Q> parse_quantity(std::string_view text, const Where& where) {
  const std::span<const Unit> known = units(Q());
  const auto problem = [&](const std::string& what) {
    return Problem{where,
                   what + "; write a number and one of the units " + unit_list(known) +
                       ", e.g. \"1.5 " + std::string(known.back().name) + "\"",
                   Trouble::malformed};
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc() || !std::isfinite(number)) {
    return problem("'" + printable(text) + "' does not begin with a number");
  }
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  while (!unit.empty() && unit.back() == ' ') unit.remove_suffix(1);
  if (unit.empty()) return problem("'" + printable(text) + "' has no unit");
  for (const Unit& candidate : known) {
    if (candidate.name != unit) continue;
    if (!std::isfinite(number * candidate.si))
      return problem("'" + printable(text) + "' is too large");
    return Q(number * candidate.si);
  }
  return problem("'" + printable(unit) + "' is not a unit that fits here");
}

template Result<Seconds> parse_quantity<Seconds>(std::string_view, const Where&);
template Result<Bytes> parse_quantity<Bytes>(std::string_view, const Where&);
template Result<Flops> parse_quantity<Flops>(std::string_view, const Where&);
template Result<Joules> parse_quantity<Joules>(std::string_view, const Where&);
template Result<BytesPerSecond> parse_quantity<BytesPerSecond>(std::string_view, const Where&);
template Result<FlopsPerSecond> parse_quantity<FlopsPerSecond>(std::string_view, const Where&);
template Result<Watts> parse_quantity<Watts>(std::string_view, const Where&);

std::string to_text(Seconds v) {
  return scaled(v.value(), "s", kSmall);
}
std::string to_text(Bytes v) {
  return scaled(v.value(), "B", kBinary);
}
std::string to_text(Flops v) {
  return scaled(v.value(), "FLOP", kDecimal);
}
std::string to_text(Joules v) {
  return scaled(v.value(), "J", kDecimal);
}
std::string to_text(BytesPerSecond v) {
  return scaled(v.value(), "B/s", kDecimal);
}
std::string to_text(FlopsPerSecond v) {
  return scaled(v.value(), "FLOP/s", kDecimal);
}
std::string to_text(Watts v) {
  return scaled(v.value(), "W", kDecimal);
}

std::string count_text(double count) {
  std::string out = formatted("%.0f", count);
  const int first = out.starts_with('-') ? 1 : 0;
  for (int at = static_cast<int>(out.size()) - 3; at > first; at -= 3) {
    out.insert(static_cast<std::size_t>(at), ",");
  }
  return out;
}

std::string percent_text(double share) {
  return formatted("%.1f %%", 100 * share);
}

std::string duration_text(Seconds time) {
  constexpr struct {
    double seconds;
    const char* unit;
  } kUnits[] = {{86'400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
  for (const auto& unit : kUnits) {
    const double value = time.value() / unit.seconds;
    if (value < 0.9995 && unit.seconds > 1) continue;
    return formatted(value < 9.995   ? "%.2f %s"
                     : value < 99.95 ? "%.1f %s"
                                     : "%.0f %s",
                     value, unit.unit);
  }
  return "0 s";
}

std::string short_count_text(double value) {
  if (value >= 1e7) {
    if (value >= 1e12) return formatted("%.3g T", value / 1e12);
    if (value >= 1e9) return formatted("%.3g B", value / 1e9);
    return formatted("%.3g M", value / 1e6);
  }
  return count_text(value);
}

}  // namespace headway

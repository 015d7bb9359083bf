// Quantities written as text with their unit: "3.35 TB/s", "80 GiB", "989 TFLOP/s", "700 W".
#pragma once

#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "base/result.hpp"

namespace headway {

/// Reads a finite number followed by a unit of Q's dimension. Units: s ms us ns min h d; B and its
/// decimal (kB MB GB TB PB) and binary (KiB MiB GiB TiB) multiples; those per second, and bits per
/// second (Gb/s, Tb/s); FLOP FLOP/s with k M G T P E; W kW MW; J kJ MJ kWh MWh. A bare number is a
/// Problem that says which units would be right; `where` is copied into it.
template <class Q>
Result<Q> parse_quantity(std::string_view text, const Where& where);

extern template Result<Seconds> parse_quantity<Seconds>(std::string_view, const Where&);
extern template Result<Bytes> parse_quantity<Bytes>(std::string_view, const Where&);
extern template Result<Flops> parse_quantity<Flops>(std::string_view, const Where&);
extern template Result<Joules> parse_quantity<Joules>(std::string_view, const Where&);
extern template Result<BytesPerSecond> parse_quantity<BytesPerSecond>(std::string_view,
                                                                      const Where&);
extern template Result<FlopsPerSecond> parse_quantity<FlopsPerSecond>(std::string_view,
                                                                      const Where&);
extern template Result<Watts> parse_quantity<Watts>(std::string_view, const Where&);

/// For people: three significant digits and a fitting prefix ("13.8 s", "62.1 GiB", "140 TFLOP/s");
/// binary multiples have four from 1000 to 1023, and zero has no prefix ("0 s").
std::string to_text(Seconds);
std::string to_text(Bytes);
std::string to_text(Flops);
std::string to_text(Joules);
std::string to_text(BytesPerSecond);
std::string to_text(FlopsPerSecond);
std::string to_text(Watts);

/// "12,345" of a count, rounded to a whole number.
std::string count_text(double count);
/// The same; "12.3 M" from 10 million on.
std::string short_count_text(double count);
/// "3.2 d", "5.4 h", "12 min", "8.1 s".
std::string duration_text(Seconds time);
/// "12.3 %" of 0.123.
std::string percent_text(double share);

}  // namespace headway

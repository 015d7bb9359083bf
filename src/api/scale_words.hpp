// Words and numbers that the commands of `scale` print alike.
#pragma once

#include <string>

#include "base/quantity.hpp"

namespace headway {

/// One number by a pattern of printf.
std::string number_text(const char* pattern, double value);
/// "1.05 M", "15.6 T"; below a million every digit.
std::string tokens_text(double tokens);
/// "12.3 kWh", "1,234 MWh".
std::string energy_text(Joules energy);
/// "12.3 kg", "1,234 t".
std::string mass_text(double kilograms);
/// "$1,234", "$12.3 M"; "-" where it is 0, not known.
std::string price_text(double dollars);

}  // namespace headway

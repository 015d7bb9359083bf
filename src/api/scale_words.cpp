#include "api/scale_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "api/scale.hpp"

namespace headway {

std::string number_text(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string tokens_text(double tokens) {
  return tokens >= 1e6 && tokens < 1e7 ? number_text("%.2f M", tokens / 1e6)
                                       : short_count_text(tokens);
}

std::string energy_text(Joules energy) {
  const double kilowatt_hours = energy.value() / 3.6e6;
  if (kilowatt_hours < 1000) return number_text("%.3g kWh", kilowatt_hours);
  return short_count_text(std::round(kilowatt_hours / 100) / 10) + " MWh";
}

std::string mass_text(double kilograms) {
  return kilograms < 1000 ? number_text("%.3g kg", kilograms)
                          : short_count_text(kilograms / 1000) + " t";
}

std::string price_text(double dollars) {
  return dollars > 0 ? "$" + short_count_text(dollars) : "-";
}

}  // namespace headway

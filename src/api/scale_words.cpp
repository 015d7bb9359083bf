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

std::string wrapped(const std::string& text, std::size_t first, std::size_t indent) {
  std::string out, line(first, ' ');
  bool begun = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (begun && line.size() + 1 + word.size() > 80) {
      out += line + "\n";
      line = std::string(indent, ' ') + word;
    } else {
      line += (begun ? " " : "") + word;
    }
    begun = true;
    at = end + 1;
  }
  return out + line + "\n";
}

}  // namespace headway

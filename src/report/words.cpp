#include "report/words.hpp"

#include <cmath>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"

namespace headway {

std::string tokens_text(double tokens) {
  return tokens >= 1e6 && tokens < 1e7 ? formatted("%.2f M", tokens / 1e6)
                                       : short_count_text(tokens);
}

std::string energy_text(Joules energy) {
  const double kilowatt_hours = energy.value() / 3.6e6;
  if (kilowatt_hours < 1000) return formatted("%.3g kWh", kilowatt_hours);
  return short_count_text(std::round(kilowatt_hours / 100) / 10) + " MWh";
}

std::string mass_text(double kilograms) {
  return kilograms < 1000 ? formatted("%.3g kg", kilograms)
                          : short_count_text(kilograms / 1000) + " t";
}

std::string price_text(double dollars) {
  return dollars > 0 ? "$" + short_count_text(dollars) : "-";
}

std::string reason_text(const std::string& reason, const std::string& detail) {
  return detail.empty() ? reason : reason + " (" + detail + ")";
}

std::string short_layout_words(const Layout& layout) {
  std::string out;
  const auto degree = [&](const char* name, std::int64_t value) {
    if (value > 1) out += std::string(name) + " " + std::to_string(value) + " ";
  };
  degree("tp", layout.tp);
  degree("cp", layout.cp);
  degree("pp", layout.pp);
  degree("vpp", layout.vpp);
  degree("ep", layout.ep);
  out += "mb " + std::to_string(layout.micro_batch);
  if (layout.recompute != Recompute::none) {
    out += " " + std::string(kRecomputeNames[static_cast<std::size_t>(layout.recompute)]);
  }
  return out;
}

std::string axis_title(SweepAxis axis) {
  switch (axis) {
    case SweepAxis::weak:
    case SweepAxis::strong:
      return "accelerators";
    case SweepAxis::model:
      return "model";
    case SweepAxis::context:
      return "sequence";
    case SweepAxis::hardware:
      return "cluster";
    case SweepAxis::network:
      return "network";
    case SweepAxis::layout:
      return "degree";
  }
  return {};
}

}  // namespace headway

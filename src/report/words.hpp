// Words and numbers that several forms of an answer share.
#pragma once

#include <string>

#include "base/quantity.hpp"
#include "layout/layout.hpp"
#include "study/sweep/question.hpp"

namespace headway {

inline constexpr double kHour = 3600, kDay = 86'400;  // in seconds

/// "1.05 M", "15.6 T"; below a million every digit.
std::string tokens_text(double tokens);
/// "12.3 kWh", "1,234 MWh".
std::string energy_text(Joules energy);
/// "12.3 kg", "1,234 t".
std::string mass_text(double kilograms);
/// "$1,234", "$12.3 M"; "-" where it is 0, not known.
std::string price_text(double dollars);

/// Why a row is not predicted: "no word for it (abacus)".
std::string reason_text(const std::string& reason, const std::string& detail);

/// "tp 2 mb 4 full": degrees above 1, micro-batch, recomputation.
std::string short_layout_words(const Layout& layout);
/// What the axis counts, "accelerators".
std::string axis_title(SweepAxis axis);

}  // namespace headway

#include "study/limits/sensitivities.hpp"

#include <string>
#include <vector>

#include "base/formatted.hpp"

namespace headway {
namespace {

// "1e24 3e26": FLOP of both limits, "-" for one that lies outside all widths.
std::string limits_line(const limits::SmoothLimits& at) {
  const auto text = [](const std::optional<Flops>& flops) {
    return flops ? shortest_text(flops->value()) : std::string("-");
  };
  return text(at.linear_scaling) + " " + text(at.wall);
}

bool read_limit(std::string_view text, std::optional<Flops>& into) {
  if (text == "-") return true;
  const auto flops = exact_number(text);
  if (!flops || *flops < 0) return false;
  into = Flops(*flops);
  return true;
}

bool read_limits(std::string_view line, limits::SmoothLimits& into) {
  const std::size_t space = line.find(' ');
  return space != std::string_view::npos &&
         read_limit(line.substr(0, space), into.linear_scaling) &&
         read_limit(line.substr(space + 1), into.wall);
}

}  // namespace

Result<limits::Sensitivities> limits_sensitivity(const limits::Setting& setting, int threads,
                                                 const Progress& progress) {
  return limits_sensitivity(setting, 0, {}, threads, progress);
}

Result<limits::Sensitivities> limits_sensitivity(const limits::Setting& setting, std::size_t place,
                                                 const Division& division, int threads,
                                                 const Progress& progress) {
  const std::vector<limits::Variant> variants = limits::variants_of(setting);
  const PieceWork work{.name = "setting " + std::to_string(place),
                       .count = variants.size(),
                       .make = [&](std::size_t i) {
                         return limits_line(limits::smooth_limits(variants[i].setting));
                       }};
  const auto lines = divide(division, work, threads, progress);
  if (!lines) return lines.problems();
  if (division.only) return limits::Sensitivities{};
  std::vector<limits::SmoothLimits> found(variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!read_limits(*(*lines)[i], found[i])) {
      return Problem{"merge", "the parts hold limits that are no numbers", Trouble::malformed};
    }
  }
  return limits::sensitivities(setting, variants, found);
}

}  // namespace headway

// headway limits --sensitivity: what stands on the terminal.
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/limits.hpp"

namespace headway {
namespace {

std::string written(const char* format, double value) {
  std::string out = formatted(format, value);
  std::erase(out, '+');
  return out;
}

using limits::Sensitivities;
using limits::Sensitivity;
using limits::Setting;

std::string elasticity_text(const std::optional<double>& value) {
  if (!value) return "-";
  return written("%.2f", std::abs(*value) < 0.005 ? 0 : *value);
}

std::string limit_text(const std::optional<Flops>& limit) {
  return limit ? written("%.2e", limit->value()) : "none";
}

std::string times_text(const std::optional<Flops>& limit, const std::optional<Flops>& base) {
  return limit && base ? "x" + written("%.3g", *limit / *base) : "-";
}

std::string improvement_text(const Setting& setting, const Sensitivities& found, const char* what,
                             limits::Which which) {
  std::string out = std::string("moves ") + what + " most:";
  for (const bool tenfold : {false, true}) {
    const auto best = limits::best_improvement(found, which, tenfold);
    out += tenfold ? "; ten times better " : " twice better ";
    if (!best) {
      out += "nothing moves it";
      continue;
    }
    out += limits::name_of(setting, best->knob) + " (x" + written("%.3g", best->times) + ")";
  }
  return out + "\n";
}

}  // namespace

Cells sensitivity_rows(const Setting& setting, const Sensitivities& found) {
  std::vector<std::vector<std::string>> rows = {{"number", "linear", "wall", "formula linear",
                                                 "formula latency", "twice better: linear", "wall",
                                                 "ten times: linear", "wall"}};
  for (const Sensitivity& one : found.each) {
    rows.push_back({printable(limits::name_of(setting, one.knob)),
                    elasticity_text(one.linear_elasticity), elasticity_text(one.wall_elasticity),
                    elasticity_text(one.formula.linear_scaling),
                    elasticity_text(one.formula.latency),
                    times_text(one.twice.linear_scaling, found.base.linear_scaling),
                    times_text(one.twice.wall, found.base.wall),
                    times_text(one.tenfold.linear_scaling, found.base.linear_scaling),
                    times_text(one.tenfold.wall, found.base.wall)});
  }
  return rows;
}

std::string improvements_text(const Setting& setting, const Sensitivities& found) {
  return improvement_text(setting, found, "the end of linear scaling",
                          limits::Which::linear_scaling) +
         improvement_text(setting, found, "the wall", limits::Which::wall);
}

std::string sensitivity_text(const LimitsCurve& of, const Sensitivities& found) {
  const limits::Curve& curve = of.curve;
  std::string out = printable(of.setting.name) + ": linear scaling to " +
                    limit_text(found.base.linear_scaling) + " FLOP, wall at " +
                    limit_text(found.base.wall) + " FLOP (smooth ends of the curve)\n" +
                    "on clusters of powers of two: first model below " +
                    percent_text(of.setting.linear_share) + " at " + limit_text(curve.first_below) +
                    ", last above at " + limit_text(curve.last_above) + ", last feasible " +
                    (curve.runs.empty() ? std::string("none")
                                        : power_text(curve.runs.back().shape.training.value())) +
                    "\n\n" + aligned(sensitivity_rows(of.setting, found)) + "\n" +
                    improvements_text(of.setting, found);
  return out +
         "\nelasticities: percent by which a limit moves for one percent of the number; of the "
         "curve over\nhalf to twice the number (exponents and shares: a tenth). Better: twice the "
         "rate or size, half the\nlatency. The formulas hold layers and batch at 3e23 FLOP, the "
         "curve holds the laws' coefficients:\nexponents differ for that. Smooth: on the cluster "
         "that needs exactly the time allowed, without zig-zag\n(docs/limits.md).\n";
}

}  // namespace headway

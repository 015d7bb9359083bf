// headway limits --sensitivity: as text, as JSON, as a drawing.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "api/limits_beyond.hpp"
#include "base/draw/plot.hpp"
#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

using limits::Sensitivities;
using limits::Sensitivity;
using limits::Setting;
using limits::SmoothLimits;
std::string written(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  std::string out = text;
  std::erase(out, '+');
  return out;
}

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

Json number(const std::optional<Flops>& limit) {
  return limit ? Json(limit->value()) : Json();
}
Json number(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json limits_of(const SmoothLimits& of) {
  return {{"linear_scaling_flop", number(of.linear_scaling)}, {"wall_flop", number(of.wall)}};
}

}  // namespace

std::vector<std::vector<std::string>> sensitivity_rows(const Setting& setting,
                                                       const Sensitivities& found) {
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

std::string sensitivity_json(const std::string& title, const std::vector<LimitsCurve>& curves,
                             const std::vector<Sensitivities>& found) {
  Json document = Json::parse(limits_json({title, curves}));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    Json out = {{"smooth", limits_of(found[i].base)}, {"numbers", Json::array()}};
    for (const Sensitivity& one : found[i].each) {
      out["numbers"].push_back({{"name", limits::name_of(curves[i].setting, one.knob)},
                                {"value_si", one.value},
                                {"linear_scaling_elasticity", number(one.linear_elasticity)},
                                {"wall_elasticity", number(one.wall_elasticity)},
                                {"formula_linear_scaling_elasticity", one.formula.linear_scaling},
                                {"formula_latency_elasticity", one.formula.latency},
                                {"twice_better", limits_of(one.twice)},
                                {"ten_times_better", limits_of(one.tenfold)}});
    }
    document["settings"][i]["sensitivity"] = std::move(out);
  }
  return document_text(document);
}

CommandOutput run_limits_sensitivity(const LimitsRequest& request,
                                     const limits::Comparison& comparison) {
  // The curves as they are, and of each setting what its numbers do.
  const auto curves = limits_curves(comparison.settings, request.threads, {});
  std::vector<Sensitivities> all;
  for (const Setting& setting : comparison.settings) {
    auto found = limits_sensitivity(setting, request.threads, request.progress);
    if (!found) return {.problems = {{"limits", "was stopped", Trouble::stopped}}};
    all.push_back(std::move(*found));
  }

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  for (std::size_t i = 0; i < all.size() && !request.plot.empty(); ++i) {
    files.push_back({request.plot + "/limits-sensitivity-" + std::to_string(i + 1) + ".svg",
                     sensitivity_svg(comparison.settings[i], all[i])});
  }
  if (Problems problems = write_files(files, request.plot); !problems.empty()) {
    return {.problems = std::move(problems)};
  }
  if (request.json) return {.text = sensitivity_json(comparison.title, *curves, all)};
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += (text.empty() ? "" : "\n") + sensitivity_text((*curves)[i], all[i]);
  }
  return {.text = std::move(text)};
}

std::string sensitivity_svg(const Setting& setting, const Sensitivities& found) {
  constexpr double kRow = 26, kLeft = 210, kRight = 620, kTop = 90;
  std::vector<const Sensitivity*> shown;
  double most = 1;
  for (const Sensitivity& one : found.each) {
    const double reach = std::max(std::abs(one.linear_elasticity.value_or(0)),
                                  std::abs(one.wall_elasticity.value_or(0)));
    if (reach < 0.005) continue;
    shown.push_back(&one);
    most = std::max(most, reach);
  }
  const double bottom = kTop + kRow * static_cast<double>(shown.size());
  Svg svg(660, bottom + 56, "Elasticities of both limits of " + setting.name);
  draw_heading(svg, "What moves the limits: " + printable(setting.name, 60),
               "Percent by which a limit moves when a number grows by one percent; to the left it "
               "falls.");
  const LegendEntry legend[] = {{"end of linear scaling", kBlue}, {"wall", kVermilion}};
  draw_legend(svg, {kLeft, 68}, legend);
  const Scale x{-most * 1.05, most * 1.05, kLeft, kRight, false};
  for (const double tick : ticks(x)) {
    svg.line({x.at(tick), kTop - 6}, {x.at(tick), bottom}, "stroke=\"#e7eaed\"");
    svg.text({x.at(tick), bottom + 16}, tick_label(tick),
             "text-anchor=\"middle\" fill=\"#6e7781\"");
  }
  double y = kTop;
  for (const Sensitivity* one : shown) {
    svg.text({kLeft - 8, y + 14}, limits::name_of(setting, one->knob), "text-anchor=\"end\"");
    const auto bar = [&](const std::optional<double>& value, double at, std::string_view colour) {
      const double from = x.at(std::min(0.0, value.value_or(0)));
      const double to = x.at(std::max(0.0, value.value_or(0)));
      svg.rect({from, at}, to - from, 8, "fill=\"" + std::string(colour) + "\"");
    };
    bar(one->linear_elasticity, y + 2, kBlue);
    bar(one->wall_elasticity, y + 11, kVermilion);
    y += kRow;
  }
  svg.line({x.at(0), kTop - 6}, {x.at(0), bottom}, "stroke=\"#24292f\"");
  svg.text({(kLeft + kRight) / 2, bottom + 38}, "elasticity", "text-anchor=\"middle\"");
  return svg.str();
}

}  // namespace headway

#include "limits/search/sensitivity.hpp"

#include <algorithm>
#include <cmath>

namespace headway::limits {
namespace {

// Numbers that can be built or chosen are halved and doubled; exponents and shares, which cannot,
// are moved by a tenth.
constexpr double kWide = 2, kNarrow = 1.1;
constexpr double kTenfold = 10;

double step_of(const Knob& knob) {
  switch (knob.number) {
    case Number::sustained:
    case Number::batch_exponent:
    case Number::layers_exponent:
    case Number::experts_exponent:
      return kNarrow;
    default:
      return kWide;
  }
}

// d alpha / d exponent of implied_alpha(): with e, s, b the exponents of layers, experts and batch
// and t = 4 + 4e + s, alpha = b + s/(2t) - 2e/t (without s/(2t) where the batch is constant).
double alpha_by(const Setting& setting, Number number) {
  const double e = setting.layers.exponent;
  const double s = setting.sparsity.sparse ? setting.sparsity.exponent : 0;
  const double t = 4 + 4 * e + s;
  const double in_batch = setting.batch.constant ? 0 : 1;
  switch (number) {
    case Number::batch_exponent:
      return 1;
    case Number::layers_exponent:
      return -(8 + 2 * s) / (t * t) - in_batch * 2 * s / (t * t);
    case Number::experts_exponent:
      return in_batch * (0.5 / t - s / (2 * t * t)) + 2 * e / (t * t);
    default:
      return 0;
  }
}

// The narrowest of the levels between nodes, whose bandwidth [LIMIT-19] uses.
std::size_t narrowest(const std::vector<Level>& levels) {
  std::size_t out = levels.size() > 1 ? 1 : 0;
  for (std::size_t i = out + 1; i < levels.size(); ++i) {
    if (levels[i].bandwidth < levels[out].bandwidth) out = i;
  }
  return out;
}

}  // namespace

// [LIMIT-24] Both closed forms are T = 2 X^p in FLOP, p = 1/(1 - 2 alpha), X in MAC:
//   latency: X ~ (T0^-alpha t_d/t)^2, so d ln T/d ln t_d = 2p and, for a part k of t, -2p k/t;
//   linear:  X ~ (T0^-alpha t_d C/(A^2 n))^2 with C/(A^2 n) ~ g W^2 Mw/C1^2 for g GPUs of C1 MAC/s
//            a node: duration, node size and memory bandwidth 2p, network 4p, peak -4p.
// alpha: d ln T/d alpha = 2p ln(T/2 / T0), times d alpha/d exponent. Exact, but for the kink
// where two levels are equally narrow.
Elasticity closed_form_elasticity(const Setting& setting, const Knob& knob, double alpha) {
  const double p = 1 / (1 - 2 * alpha);
  const std::vector<Level>& levels = setting.machine.levels;
  double serial = setting.machine.gpu.kernel_latency.value();
  for (const Level& level : levels) serial += 2 * level.latency.value();
  switch (knob.number) {
    case Number::peak:
      return {-4 * p, 0};
    case Number::memory_bandwidth:
      return {2 * p, 0};
    case Number::kernel_latency:
      return {0, -2 * p * setting.machine.gpu.kernel_latency.value() / serial};
    case Number::level_size:
      return {knob.level == 0 ? 2 * p : 0, 0};
    case Number::level_bandwidth:
      return {knob.level == narrowest(levels) ? 4 * p : 0, 0};
    case Number::level_latency:
      return {0, -2 * p * 2 * levels[knob.level].latency.value() / serial};
    case Number::duration:
      return {2 * p, 2 * p};
    case Number::batch_exponent:
    case Number::layers_exponent:
    case Number::experts_exponent: {
      constexpr double kFlop = 3e23;  // T0
      const ClosedForms forms = closed_forms(setting, alpha);
      const double by = alpha_by(setting, knob.number) * value_of(setting, knob) * 2 * p;
      return {by * std::log(forms.linear_scaling.value() / 2 / kFlop),
              by * std::log(forms.latency.value() / 2 / kFlop)};
    }
    default:
      return {};
  }
}

std::vector<Variant> variants_of(const Setting& setting) {
  std::vector<Variant> out = {{std::nullopt, 1, setting}};
  for (const Knob& knob : knobs_of(setting)) {
    const double step = step_of(knob);
    std::vector<double> factors = {1 / step, step};
    if (is_hardware(knob)) {
      if (step != kWide) factors.push_back(kWide);
      factors.push_back(less_is_better(knob) ? 1 / kTenfold : kTenfold);
    }
    for (const double factor : factors) {
      if (auto other = scaled(setting, knob, factor)) {
        out.push_back({knob, factor, std::move(*other)});
      }
    }
  }
  return out;
}

// [LIMIT-25] Elasticity of a limit of the curve: ln(limit at the number times f / limit at the
// number over f) / (2 ln f), f = 2 (shares and exponents 1.1); one-sided against the base where a
// side means nothing or has no limit. An arc, not a derivative: what a change by that factor does.
Sensitivities sensitivities(const Setting& setting, const std::vector<Variant>& variants,
                            const std::vector<SmoothLimits>& limits) {
  Sensitivities out;
  out.base = limits.front();
  const double alpha = implied_alpha(setting);
  for (const Knob& knob : knobs_of(setting)) {
    const auto at = [&](double factor) {
      if (factor == 1) return limits.front();
      for (std::size_t i = 0; i < variants.size(); ++i) {
        if (variants[i].knob == knob && variants[i].factor == factor) return limits[i];
      }
      return SmoothLimits{};
    };
    const double step = step_of(knob);
    const auto elasticity = [&](auto member) -> std::optional<double> {
      double low = 1 / step, high = step;
      if (!(at(low).*member)) low = 1;
      if (!(at(high).*member)) high = 1;
      if (low == high || !(at(low).*member) || !(at(high).*member)) return std::nullopt;
      return std::log(*(at(high).*member) / *(at(low).*member)) / std::log(high / low);
    };
    Sensitivity one;
    one.knob = knob;
    one.value = value_of(setting, knob);
    one.formula = closed_form_elasticity(setting, knob, alpha);
    one.linear_elasticity = elasticity(&SmoothLimits::linear_scaling);
    one.wall_elasticity = elasticity(&SmoothLimits::wall);
    if (is_hardware(knob)) {
      one.twice = at(less_is_better(knob) ? 1 / kWide : kWide);
      one.tenfold = at(less_is_better(knob) ? 1 / kTenfold : kTenfold);
    }
    out.each.push_back(std::move(one));
  }
  const auto effect = [](const Sensitivity& one) {
    return std::max(std::abs(one.linear_elasticity.value_or(0)),
                    std::abs(one.wall_elasticity.value_or(0)));
  };
  std::stable_sort(
      out.each.begin(), out.each.end(),
      [&](const Sensitivity& a, const Sensitivity& b) { return effect(a) > effect(b); });
  return out;
}

std::optional<Improvement> best_improvement(const Sensitivities& all, Which which, bool tenfold) {
  const auto member = which == Which::wall ? &SmoothLimits::wall : &SmoothLimits::linear_scaling;
  std::optional<Improvement> out;
  for (const Sensitivity& one : all.each) {
    const SmoothLimits& better = tenfold ? one.tenfold : one.twice;
    if (!(better.*member) || !(all.base.*member)) continue;
    const double times = *(better.*member) / *(all.base.*member);
    if (times > (out ? out->times : 1)) out = {one.knob, times};
  }
  return out;
}

}  // namespace headway::limits

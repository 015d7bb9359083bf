#include "limits/machine/scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headway::limits {
namespace {

constexpr int kGridPowers = 60;
// Beyond these nothing is meant; so that products of them stay whole numbers.
constexpr double kMostBatchTokens = 1e17;
constexpr std::int64_t kMostLayers = 1'000'000'000, kMostExperts = 1'000'000;
constexpr std::array<double, 5> kGridFactors = {1, 3, 5, 7, 9};

}  // namespace

// [LIMIT-4] Ties go to the smaller one. Outside the grid, its end.
std::int64_t nearest_on_grid(double value) {
  double best = 1;
  for (const double factor : kGridFactors) {
    // The two of this factor about the value.
    const double power = value > factor ? std::floor(std::log2(value / factor)) : 0;
    for (const double i : {power - 1, power, power + 1}) {
      const double near =
          std::ldexp(factor, static_cast<int>(std::clamp(i, 0.0, kGridPowers - 1.0)));
      const double off = std::abs(near - value), least = std::abs(best - value);
      if (off < least || (off == least && near < best)) best = near;
    }
  }
  return static_cast<std::int64_t>(best);
}

// [LIMIT-7] b = S closest(sqrt(S) b0 (T/T0)^e / s / S) sequences of s tokens: each of the S experts
// sees a batch that is on the grid. Defaults b0 = 4 Mi tokens at T0 = 3e23 (GPT-3), e = 1/6.
// Bi et al. 2024 (DeepSeek LLM): b0 = 0.2920, T0 = 1, e = 0.3271. Source of the first: the limits
// study; the exponent is its weakest assumption, see docs/limits.md.
std::int64_t critical_batch_sequences(const BatchLaw& law, std::int64_t sequence,
                                      std::int64_t experts, Flops training) {
  const double length = static_cast<double>(sequence);
  if (law.constant) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(law.tokens / length)));
  }
  const double growth = std::pow(training.value() / law.flop, law.exponent);
  const double each = static_cast<double>(experts);
  const double wanted = std::sqrt(each) * law.tokens * growth / length / each;
  return experts * nearest_on_grid(std::min(wanted, kMostBatchTokens / length / each));
}

Shape shape_of(const Setting& setting, std::int64_t d_model) {
  Shape out;
  out.d_model = d_model;
  out.d_ff = setting.feed_forward_ratio * d_model;
  const double surface = static_cast<double>(out.d_model) * static_cast<double>(out.d_ff);

  // [LIMIT-5] L = closest(0.10056 (d_model d_ff)^0.3751), fitted to the models of Hoffmann et al.
  // 2022; S = closest(8 sqrt(d_model d_ff / (4 12288^2))): 8 experts at GPT-4's supposed width.
  out.layers = std::min(kMostLayers, nearest_on_grid(setting.layers.coefficient *
                                                     std::pow(surface, setting.layers.exponent)));
  if (setting.sparsity.sparse) {
    const double at = 4 * setting.sparsity.width * setting.sparsity.width;
    out.experts = std::min(kMostExperts,
                           nearest_on_grid(setting.sparsity.experts *
                                           std::pow(surface / at, setting.sparsity.exponent / 2)));
  }

  // [LIMIT-6] N = 2 d_model d_ff L S; D = 20 N (Hoffmann et al.), counting all experts;
  // T = 6 D N/S: each token uses one expert. No attention, no embeddings.
  const double experts = static_cast<double>(out.experts);
  out.parameters = 2 * surface * static_cast<double>(out.layers) * experts;
  out.tokens = setting.tokens_per_parameter * out.parameters;
  out.learned = Flops(6 * out.tokens * out.parameters / experts);

  out.batch_sequences =
      critical_batch_sequences(setting.batch, setting.sequence, out.experts, out.learned);

  // [LIMIT-32] Each site has as many of its sequences.
  const std::int64_t shared = odd_part_of_sites(setting.machine);
  out.batch_sequences = (out.batch_sequences + shared - 1) / shared * shared;

  // [LIMIT-26] What a relaxed run needs beyond: more data for the same loss; evolution strategies
  // do the forward third of the FLOP only. The batch is that of the synchronous run.
  const Relaxation& relaxation = setting.relaxation;
  out.tokens *= relaxation.sample_penalty;
  out.training = out.learned * relaxation.sample_penalty;
  if (relaxation.forward_only) out.training /= 3;
  out.batch_tokens = out.batch_sequences * setting.sequence;
  return out;
}

std::vector<std::int64_t> widths(const Setting& setting) {
  std::vector<std::int64_t> out;
  for (std::int64_t factor = 1; factor <= 15; factor += 2) {
    for (int power = 11; power <= 21; ++power) {
      const std::int64_t width = factor << power;
      if (width >= setting.first_d_model && width <= setting.last_d_model) out.push_back(width);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

double steps_of(const Shape& shape) {
  return shape.tokens / static_cast<double>(shape.batch_tokens);
}

}  // namespace headway::limits

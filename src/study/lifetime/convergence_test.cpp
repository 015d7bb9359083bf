#include "study/lifetime/convergence.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

const ConvergenceLaws& laws() {
  static const ConvergenceLaws known = embedded_convergence_laws().value();
  return known;
}
const LossLaw& law_of(const std::string& name) {
  for (const LossLaw& law : laws().losses) {
    if (law.name == name) return law;
  }
  throw std::runtime_error(name);
}

// [SCALE-10] The law as it was stated, and steps = a/B + b.
TEST(Convergence, StepsAndTokensObeyTheTradeOff) {
  const double critical = 3e6;
  for (const double batch : {1e3, 1e6, 3e6, 1e8}) {
    const double steps = step_factor(batch, critical), tokens = token_factor(batch, critical);
    EXPECT_NEAR((steps - 1) * (tokens - 1), 1, 1e-9);
    // Tokens = batch · steps in units of E_min = B_crit · S_min.
    EXPECT_NEAR(tokens, batch * steps / critical, 1e-9 * tokens);
    EXPECT_NEAR(steps, critical / batch + 1, 1e-9 * steps);
  }
  EXPECT_EQ(token_factor(critical, critical), 2);
}

// [SCALE-11] Figure 10 of arXiv 2001.08361 runs through 10⁶ tokens near a loss of 3 (2e8 / 3^4.76 =
// 1.07e6).
TEST(Convergence, TheCriticalBatchGrowsAsTheLossFalls) {
  EXPECT_NEAR(critical_batch(laws().critical_batch, 3), 1.07e6, 0.01e6);
  EXPECT_NEAR(critical_batch(laws().critical_batch, 1), 2e8, 1);
  EXPECT_GT(critical_batch(laws().critical_batch, 2), critical_batch(laws().critical_batch, 3));
}

// [SCALE-12] Chinchilla, 70 B on 1.4 T tokens: term by term with the published constants.
TEST(Convergence, TheLossOfChinchillaIsTheSumOfItsTerms) {
  const double parameters = 406.4 / std::exp(0.34 * std::log(70e9));
  const double tokens = 410.7 / std::exp(0.28 * std::log(1.4e12));
  EXPECT_NEAR(loss_of(law_of("hoffmann"), 70e9, 1.4e12), 1.69 + parameters + tokens, 1e-12);
  EXPECT_NEAR(loss_of(law_of("hoffmann"), 70e9, 1.4e12), 1.937, 0.001);
  EXPECT_EQ(laws().losses.front().name, "besiroglu");
}

// [SCALE-13]
TEST(Convergence, TokensForALossInvertTheLaw) {
  for (const LossLaw& law : laws().losses) {
    for (const double tokens : {1e10, 1e12, 15e12}) {
      EXPECT_NEAR(tokens_for_loss(law, 8e9, loss_of(law, 8e9, tokens)) / tokens, 1, 1e-6);
    }
    EXPECT_TRUE(std::isinf(tokens_for_loss(law, 8e9, law.irreducible)));
  }
}

// [SCALE-14] No other split of the same compute is better; and the refitted law finds Chinchilla's
// own allocation (70 B, 20 tokens a parameter) near its optimum, as its authors say of it.
TEST(Convergence, TheOptimalModelIsBestForItsCompute) {
  for (const LossLaw& law : laws().losses) {
    const double flops = 5.76e23, best = optimal_parameters(law, flops);
    const auto loss = [&](double parameters) {
      return loss_of(law, parameters, flops / (6 * parameters));
    };
    for (const double factor : {0.5, 0.9, 1.1, 2.0}) EXPECT_GT(loss(best * factor), loss(best));
  }
  const double best = optimal_parameters(law_of("besiroglu"), 5.76e23);
  EXPECT_NEAR(5.76e23 / (6 * best) / best, 20, 7);
}

}  // namespace
}  // namespace headway

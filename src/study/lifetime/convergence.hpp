// How much training a loss takes: scaling laws, and what a larger batch costs in tokens.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace headway {

/// L(N, D) = E + A/N^α + B/D^β, in nats a token [SCALE-12].
struct LossLaw {
  std::string name;
  std::string source;
  double irreducible = 0, parameter_scale = 0, parameter_exponent = 0;
  double token_scale = 0, token_exponent = 0;
};

/// The critical batch at a loss: tokens / L^(1/exponent) [SCALE-11].
struct CriticalBatchLaw {
  std::string source;
  double tokens = 0, exponent = 1;
};

/// The critical batch of a run on D tokens: tokens (D / at)^exponent [LAW-23].
struct TokensBatchLaw {
  std::string source;
  double tokens = 0, at = 1, exponent = 0;
};

struct ConvergenceLaws {
  std::vector<LossLaw> losses;  // the first is the default
  CriticalBatchLaw critical_batch;
  TokensBatchLaw by_tokens;
};

/// data/economics/convergence.toml.
Result<ConvergenceLaws> embedded_convergence_laws();

double loss_of(const LossLaw& law, double parameters, double tokens);
/// The tokens after which the loss is reached [SCALE-13]; infinite where the model never does.
double tokens_for_loss(const LossLaw& law, double parameters, double loss);
/// The parameters that reach the least loss with `flops` = 6 N D of training [SCALE-14].
double optimal_parameters(const LossLaw& law, double flops);

double critical_batch(const CriticalBatchLaw& law, double loss);

/// Tokens that a batch takes to a loss, over those that a small one takes: 1 + B/B_crit [SCALE-10].
double token_factor(double batch_tokens, double critical_batch_tokens);
/// Steps that it takes, over those of a large batch: 1 + B_crit/B [SCALE-10].
double step_factor(double batch_tokens, double critical_batch_tokens);

}  // namespace headway

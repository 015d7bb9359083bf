#include "study/lifetime/convergence.hpp"

#include <cmath>
#include <limits>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {

Result<ConvergenceLaws> embedded_convergence_laws() {
  static const auto document = embedded_document("economics/convergence.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields fields(*document, problems);
  ConvergenceLaws out;
  for (Fields& entry : fields.tables("loss")) {
    LossLaw law;
    law.name = entry.text("name");
    law.source = entry.text("source");
    law.irreducible = entry.number("irreducible");
    law.parameter_scale = entry.number("parameter_scale");
    law.parameter_exponent = entry.number("parameter_exponent");
    law.token_scale = entry.number("token_scale");
    law.token_exponent = entry.number("token_exponent");
    out.losses.push_back(law);
  }
  Fields batch = fields.table("critical_batch", /*required=*/true);
  out.critical_batch = {batch.text("source"), batch.number("tokens"), batch.number("exponent")};
  Fields by_tokens = fields.table("critical_batch_by_tokens", /*required=*/true);
  out.by_tokens = {by_tokens.text("source"), by_tokens.number("tokens"), by_tokens.number("at"),
                   by_tokens.number("exponent")};
  if (!problems.empty()) return problems;
  return out;
}

// [SCALE-12] Hoffmann et al. 2022, approach 3. N: all parameters, embeddings included.
double loss_of(const LossLaw& law, double parameters, double tokens) {
  return law.irreducible + law.parameter_scale * std::pow(parameters, -law.parameter_exponent) +
         law.token_scale * std::pow(tokens, -law.token_exponent);
}

// [SCALE-13] D = (B / (L - E - A/N^α))^{1/β}.
double tokens_for_loss(const LossLaw& law, double parameters, double loss) {
  const double left =
      loss - law.irreducible - law.parameter_scale * std::pow(parameters, -law.parameter_exponent);
  if (left <= 0) return std::numeric_limits<double>::infinity();
  return std::pow(law.token_scale / left, 1 / law.token_exponent);
}

// [SCALE-14] dL/dN = 0 on 6 N D = C: N = (αA / βB)^{1/(α+β)} (C/6)^{β/(α+β)} (Hoffmann et al.
// 2022, eq. 4).
double optimal_parameters(const LossLaw& law, double flops) {
  const double a = law.parameter_exponent, b = law.token_exponent;
  return std::pow(a * law.parameter_scale / (b * law.token_scale), 1 / (a + b)) *
         std::pow(flops / 6, b / (a + b));
}

// [SCALE-11] Kaplan et al. 2020, eq. 5.3. Known error: measured on models up to 1.5 B parameters;
// later work (arXiv 2410.21676) finds that it grows with the tokens trained on.
double critical_batch(const CriticalBatchLaw& law, double loss) {
  return law.tokens * std::pow(loss, -1 / law.exponent);
}

// [SCALE-10] McCandlish et al. 2018, eq. 2.11: (S/S_min - 1)(E/E_min - 1) = 1 with E = B·S and
// B_crit = E_min/S_min gives S = S_min (1 + B_crit/B), that is a/B + b, and E = E_min (1 +
// B/B_crit).
double token_factor(double batch, double critical) {
  return 1 + batch / critical;
}

double step_factor(double batch, double critical) {
  return 1 + critical / batch;
}

}  // namespace headway

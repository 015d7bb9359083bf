#include "study/convergence/penalty.hpp"

#include <algorithm>

#include "base/quantity_text.hpp"
#include "method/methods.hpp"

namespace headway {

Result<PublishedLosses> published_losses() {
  auto laws = embedded_local_update_laws();
  if (!laws) return laws.problems();
  auto measured = measured_penalties();
  if (!measured) return measured.problems();
  return PublishedLosses{std::move(laws).value(), std::move(measured).value()};
}

Penalty loss_penalty(const LossCase& of, const SitesQuestion& question,
                     const PublishedLosses& published) {
  if (of.method.is_synchronous()) return {1, "exact"};
  const std::string& name = of.method.row->name;
  if (const auto own = question.penalties.find(name); own != question.penalties.end()) {
    return {own->second, "given"};
  }
  Penalty out = published_penalty(published.measured, name, static_cast<double>(of.method.every),
                                  static_cast<double>(of.sites), of.parameters);
  if (out.factor) return out;
  if (question.extrapolate && name == "diloco") {
    // Of two power laws one falls below the other somewhere: no gain is counted that nobody
    // measured.
    return {std::max(1.0, published.laws.penalty(of.parameters, of.sites)),
            "extrapolated, gains left out: " + published.laws.source};
  }
  if (of.transient && question.extrapolate && of.steps >= *of.transient) {
    // [LAW-9] Beyond its transient gossip learns as fast, to the order of magnitude.
    return {1, "extrapolated, by the spectral gap: as synchronous training from " +
                   short_count_text(*of.transient) + " steps on, data alike at all sites"};
  }
  if (out.from == "no published number") {
    out.from = "no published loss; " + of.method.row->penalty;
  }
  return out;
}

}  // namespace headway

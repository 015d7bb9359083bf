#include "fit/serving/imbalance.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/document/toml_text.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "fit/serving/loss.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

constexpr double kFiner = 0.1, kMostUneven = 1.3;
constexpr std::size_t kTimePerToken = 1;  // of kServedQuantities
constexpr double kWorst = 1;              // of what is no longer answered

bool tells(const ServedCase& each) {
  return each.asked && each.asked->fitted && each.asked->load.arrivals == Arrivals::clients &&
         each.row.measured[kTimePerToken] && has_experts(each.asked->serving.model);
}

// ln(predicted / measured); nothing where it does not fit.
std::optional<double> error_of(const ServedCase& each, double imbalance) {
  AskedServing asked = *each.asked;
  asked.serving.routing.power = imbalance;
  const Served said = served(asked);
  if (!said.fits || !said.stable()) return std::nullopt;
  const auto token = numbers_of(said)[kTimePerToken];
  if (!token) return std::nullopt;
  return std::log(*token / *each.row.measured[kTimePerToken]);
}

}  // namespace

std::optional<ImbalanceFit> fit_imbalance(const std::vector<ServedCase>& cases, int threads,
                                          const Progress& progress) {
  ImbalanceFit out;
  std::vector<const ServedCase*> told;
  std::set<std::string> models;
  for (const ServedCase& each : cases) {
    if (!tells(each) || !error_of(each, 0)) continue;
    told.push_back(&each);
    models.insert(each.row.model);
  }
  out.rows = told.size();
  out.models = models.size();
  if (told.empty()) return out;
  for (int i = 0; i * kFiner <= kMostUneven; ++i) {
    const double imbalance = i * kFiner;
    std::vector<std::optional<double>> errors(told.size());
    const bool done = for_each_index(
        told.size(), threads,
        [&](std::size_t k, std::size_t) { errors[k] = error_of(*told[k], imbalance); }, progress);
    if (!done) return std::nullopt;
    double sum = 0;
    std::vector<double> shares;
    for (const auto& error : errors) {
      sum += error ? robust_loss(*error) : kWorst;
      if (error) shares.push_back(std::exp(*error) - 1);
    }
    const ErrorSummary summary = summarise(shares);
    out.tried.push_back(
        {imbalance, sum / static_cast<double>(told.size()), summary.median, summary.p90});
  }
  const auto least = std::min_element(out.tried.begin(), out.tried.end(),
                                      [](const auto& a, const auto& b) { return a.loss < b.loss; });
  out.imbalance = least->imbalance;
  return out;
}

UnitTable imbalance_table(const ImbalanceFit& fit) {
  UnitTable out = {{"imbalance", "loss of a token's time", "median", "p90"}, {"", "", "%", "%"}};
  for (const auto& each : fit.tried) {
    out.push_back({formatted("%.1f", each.imbalance), formatted("%.4f", each.loss),
                   in_percent(each.median), in_percent(each.p90)});
  }
  return out;
}

std::string to_toml(const ImbalanceFit& fit, const std::string& date) {
  const std::string source = "time per token of " + std::to_string(fit.rows) + " rows of " +
                             std::to_string(fit.models) +
                             " models with experts (headway calibrate serving --corpus), whose "
                             "prompts are drawn at random";
  return "# [INFER-3] How unevenly routers choose experts where nobody says it: the i-th busiest "
         "is "
         "chosen as i to the power of minus this as often as the first.\n"
         "imbalance = " +
         formatted("%.1f", fit.imbalance) + "\nsource = " + toml_text(source) +
         "\nkind = \"fitted\"\ndate = " + toml_text(date) + "\n";
}

}  // namespace headway

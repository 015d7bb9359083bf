#include "study/convergence/sites.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/predict/predict.hpp"
#include "method/methods.hpp"
#include "model/count.hpp"
#include "run/method.hpp"
#include "study/convergence/penalty.hpp"
#include "study/laws/gossip.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

// What is the same for all numbers of sites and bandwidths.
struct Setting {
  SitesQuestion question;
  PublishedLosses published;
  double parameters = 0, active = 0, loss = 0, batch = 0;
  double steps() const { return question.given.tokens / batch; }
};

// [LAW-21] The loss of the run with D tokens is reached where penalty · L(N, D') = L(N, D); with an
// exponent g of loss by data given, D' = D · penalty^(1/g). Known error: published penalties are of
// 20 tokens a parameter.
double tokens_to_loss(const Setting& at, double penalty) {
  const GivenAssumptions& given = at.question.given;
  if (penalty == 1) return given.tokens;
  if (at.question.data_exponent) {
    return given.tokens * std::pow(penalty, 1 / *at.question.data_exponent);
  }
  return tokens_for_loss(given.loss, at.active, at.loss / penalty);
}

std::optional<Mixing> mixing_of(const Method& method, std::int64_t sites) {
  if (method.meeting != Meeting::neighbours || sites < 2) return std::nullopt;
  const double eigenvalue = mixing_eigenvalue(method.neighbours, sites);
  return Mixing{1 - eigenvalue, steps_to_agree(eigenvalue, 0.01),
                transient_steps(eigenvalue, sites)};
}

// The run on so many sites of that bandwidth, forecast; or why it has no step.
struct Stepped {
  RequestedRun run;
  Forecast forecast;
};
Result<Stepped> stepped(const Setting& at, const Method& method, std::int64_t sites,
                        BytesPerSecond bandwidth) {
  const SitesQuestion& question = at.question;
  auto run = sites == 1 ? Result<RequestedRun>(question.run)
                        : on_sites(question.run, method, {sites, bandwidth, question.latency});
  if (!run) return run.problems();
  auto made = predict(*run);
  if (!made) return made.problems();
  if (!made->fits) return Problem{{}, "does not fit in memory"};
  return Stepped{std::move(run).value(), std::move(made).value()};
}

// What all ranks of a site send to the other sites in a step, the mean of the classes of ranks.
Bytes sent_between(const RequestedRun& run, std::int64_t sites, const Calibration& calibration) {
  const std::size_t outermost = run.cluster.levels.size() - 1;
  Bytes out;
  for (const TrafficCall& call : calls_of_mean_rank(traffic_of(run, calibration))) {
    out += call.wire_at[outermost];
  }
  return out * static_cast<double>(run.layout.ranks() / sites);
}

// [LAW-20] tokens/B · h: h the step that the method's forecast has on a cluster of sites
// [METHOD-1], with all that it sends and waits for. Training alone: no evaluation, no failures.
SiteTime time_of(const Setting& at, std::size_t index, std::int64_t sites, BytesPerSecond bandwidth,
                 const Stepped& made) {
  const Method& method = at.question.methods[index];
  const Forecast& forecast = made.forecast;
  SiteTime out{.method = index, .sites = sites, .bandwidth = bandwidth};
  out.step = forecast.step_time;
  out.energy = forecast.energy;
  const int outermost = static_cast<int>(made.run.cluster.levels.size()) - 1;
  for (const PricedCall& call : forecast.calls) {
    if (sites > 1 && call.level == outermost) out.exposed += call.exposed;
  }
  out.mixing = mixing_of(method, sites);
  const std::optional<double> transient =
      out.mixing ? std::optional(out.mixing->transient) : std::nullopt;
  Penalty penalty = loss_penalty({.method = method,
                                  .sites = sites,
                                  .parameters = at.parameters,
                                  .steps = at.steps(),
                                  .transient = transient},
                                 at.question, at.published);
  out.penalty = penalty.factor;
  out.penalty_from = std::move(penalty.from);
  out.tokens = tokens_to_loss(at, out.penalty.value_or(1));
  out.time = out.tokens / at.batch * out.step;
  return out;
}

// Days at a bandwidth; never where there is no step.
std::optional<Seconds> time_at(const Setting& at, std::size_t method, std::int64_t sites,
                               double bandwidth) {
  const BytesPerSecond rate(bandwidth);
  const auto made = stepped(at, at.question.methods[method], sites, rate);
  if (!made) return std::nullopt;
  return time_of(at, method, sites, rate, *made).time;
}

// The bandwidth below which a method is sooner than synchronous training, by bisection to 0.1 %:
// both grow shorter with bandwidth, the one that sends more faster.
PaysBelow pays_below(const Setting& at, std::size_t method, std::int64_t sites) {
  PaysBelow out{.method = method, .sites = sites, .bandwidth = {}};
  const auto sooner = [&](double bandwidth) {
    const auto with = time_at(at, method, sites, bandwidth);
    const auto without = time_at(at, 0, sites, bandwidth);
    return with && (!without || *with < *without);
  };
  double low = 1e4, high = 1e14;  // bytes/s
  out.everywhere = sooner(high);
  out.nowhere = !sooner(low);
  if (out.everywhere || out.nowhere) return out;
  while (high > low * 1.001) {
    const double middle = std::sqrt(low * high);
    (sooner(middle) ? low : high) = middle;
  }
  out.bandwidth = BytesPerSecond(low);
  return out;
}

void advise(const Setting& at, SitesAnswer& out) {
  const auto& methods = at.question.methods;
  const bool has_outer = std::any_of(methods.begin(), methods.end(), [](const Method& method) {
    return method.meeting == Meeting::seldom && method.kept > 0;
  });
  const LocalUpdateLaws& laws = at.published.laws;
  const ReplicaLaws* const parallel = laws.of(0);
  if (!has_outer || parallel == nullptr) return;
  const double n = at.parameters;
  out.advice_extrapolated = n < laws.least_parameters || n > laws.most_parameters;
  for (const std::int64_t sites : at.question.sites) {
    const ReplicaLaws* own = laws.of(sites);
    const auto m = static_cast<double>(sites);
    LocalUpdateAdvice row{
        .replicas = sites,
        .batch_ratio = (own ? own->batch.at(n) : laws.batch.at(n, m)) / parallel->batch.at(n),
        .inner_rate = own ? own->rate.at(n) : laws.rate.at(n, m),
        .outer_rate = own ? own->outer_rate : std::nullopt,
        .joint = own == nullptr};
    out.advice.push_back(row);
  }
}

// Names a method and a number of sites once, with the first reason.
void leave_out(SitesAnswer& out, const std::string& what, const Problems& why) {
  const std::string line = what + " (" + printable(why.front().message, 200) + ")";
  if (std::find(out.left_out.begin(), out.left_out.end(), line) == out.left_out.end()) {
    out.left_out.push_back(line);
  }
}

}  // namespace

Result<SitesAnswer> answer_sites(SitesQuestion question) {
  auto published = published_losses();
  if (!published) return published.problems();
  auto calibration = calibration_for(question.run);
  if (!calibration) return calibration.problems();
  const Parameters counted = parameters(question.run.model);
  Setting at{.question = std::move(question),
             .published = std::move(published).value(),
             .parameters = static_cast<double>(counted.total),
             .active = static_cast<double>(counted.active)};
  const Job& job = at.question.run.job;
  at.loss = loss_of(at.question.given.loss, at.active, at.question.given.tokens);
  at.batch = static_cast<double>(job.global_batch) * static_cast<double>(job.sequence);

  SitesAnswer out;
  out.loss = at.loss;
  out.parameters = at.parameters;
  const std::vector<Method>& methods = at.question.methods;
  for (const BytesPerSecond bandwidth : at.question.bandwidths) {
    std::optional<SiteTime> first;
    for (const std::int64_t sites : at.question.sites) {
      for (std::size_t i = 0; i < (sites == 1 ? 1 : methods.size()); ++i) {
        const auto made = stepped(at, methods[i], sites, bandwidth);
        if (!made) {
          leave_out(out, text_of(methods[i]) + " on " + std::to_string(sites) + " sites",
                    made.problems());
          continue;
        }
        SiteTime row = time_of(at, i, sites, bandwidth, *made);
        if (sites > 1) row.sent = sent_between(made->run, sites, *calibration);
        if (row.penalty && (!first || row.time < first->time)) first = row;
        out.rows.push_back(std::move(row));
      }
    }
    if (first) out.first.push_back(*first);
  }
  for (const SiteTime& row : out.rows) {
    if (row.bandwidth == at.question.bandwidths.front() && row.method > 0 && row.penalty) {
      out.pays.push_back(pays_below(at, row.method, row.sites));
    }
  }
  advise(at, out);
  out.question = std::move(at.question);
  return out;
}

}  // namespace headway

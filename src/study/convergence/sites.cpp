#include "study/convergence/sites.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "forecast/predict/predict.hpp"
#include "model/count.hpp"
#include "study/laws/gossip.hpp"
#include "study/laws/local_updates.hpp"
#include "study/laws/penalties.hpp"

namespace headway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kLayersOfAFragment = 3;  // of streaming (arXiv 2501.18512)

// What is the same for all numbers of sites and bandwidths.
struct Setting {
  SitesQuestion question;
  LocalUpdateLaws laws;
  std::vector<MeasuredPenalty> published;
  double parameters = 0, active = 0, loss = 0, batch = 0;
};

Penalty penalty_of(const Setting& at, SiteMethod method, std::int64_t sites) {
  const SitesQuestion& question = at.question;
  if (method == SiteMethod::data_parallel) return {1, "exact"};
  if (const auto own = question.penalties.find(method); own != question.penalties.end()) {
    return {own->second, "given"};
  }
  Penalty out = published_penalty(at.published, to_name(method), question.sync_every,
                                  static_cast<double>(sites), at.parameters);
  if (!out.factor && question.extrapolate && method == SiteMethod::diloco) {
    // Of two power laws one falls below the other somewhere: no gain is counted that nobody
    // measured.
    return {std::max(1.0, at.laws.penalty(at.parameters, sites)),
            "extrapolated, gains left out: " + at.laws.source};
  }
  return out;
}

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

SiteTime time_of(const Setting& at, SiteMethod method, std::int64_t sites, Seconds step,
                 BytesPerSecond bandwidth) {
  SiteTime out{.method = method, .sites = sites, .bandwidth = bandwidth, .step = step};
  const Bytes parameters(at.parameters * at.question.bits / 8);
  const SiteExchange exchange =
      site_exchange(method, at.question, parameters, at.question.run.model.layers(), sites,
                    bandwidth, step, at.laws.hidden_share);
  out.exposed = exchange.exposed;
  out.sent = exchange.sent;
  Penalty penalty = penalty_of(at, method, sites);
  out.penalty = penalty.factor;
  out.penalty_from = std::move(penalty.from);
  out.tokens = tokens_to_loss(at, out.penalty.value_or(1));
  out.time = out.tokens / at.batch * (out.step + out.exposed);
  return out;
}

// The bandwidth below which a method is sooner than data parallelism, by bisection: both grow
// shorter with bandwidth, the one that sends more faster.
PaysBelow pays_below(const Setting& at, SiteMethod method, std::int64_t sites, Seconds step) {
  PaysBelow out{.method = method, .sites = sites, .bandwidth = {}};
  const auto sooner = [&](double bandwidth) {
    const BytesPerSecond rate(bandwidth);
    return time_of(at, method, sites, step, rate).time <
           time_of(at, SiteMethod::data_parallel, sites, step, rate).time;
  };
  double low = 1e3, high = 1e15;  // bytes/s
  out.everywhere = sooner(high);
  out.nowhere = !sooner(low);
  if (out.everywhere || out.nowhere) return out;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(low * high);
    (sooner(middle) ? low : high) = middle;
  }
  out.bandwidth = BytesPerSecond(low);
  return out;
}

// The step of a site that has its share of the batch; or why there is none.
Result<Seconds> step_of_site(const SitesQuestion& question, std::int64_t sites) {
  RequestedRun run = question.run;
  if (run.job.global_batch % sites != 0) {
    return Problem{{},
                   "a batch of " + std::to_string(run.job.global_batch) +
                       " sequences is not shared by them evenly"};
  }
  run.job.global_batch /= sites;
  if (Problems wrong = check(run); !wrong.empty()) return wrong;
  const auto made = predict(run);
  if (!made) return made.problems();
  if (!made->fits) return Problem{{}, "the run does not fit in memory"};
  return made->step_time;
}

}  // namespace

// [LAW-20] S bytes of parameters, M sites of W bytes/s each way, latency e, a step of h:
//   X = 2 S (1 - 1/M)/W + e, an exchange of all with all [LAW-4]
//   data-parallel  max(X/layers, X - f h), f the share that the backward pass hides [LAW-5]
//   compressed     the same of S/c
//   gossip         max(0, k S/W + e - h): parameters of k neighbours of a ring, beside computing
//   ad-psgd        the same of one neighbour, without waiting for it
//   diloco         X/H
//   streaming      P max(0, X of S/P - h)/H: P fragments of three layers, each hidden by one step
//   eager          max(0, X - H h)/H: hidden by the steps until the next
SiteExchange site_exchange(SiteMethod method, const SitesQuestion& question, Bytes parameters,
                           std::int64_t layers, std::int64_t sites, BytesPerSecond bandwidth,
                           Seconds step, double hidden_share) {
  if (sites == 1) return {};
  const SimpleNetwork network{bandwidth, question.latency};
  const auto all = [&](Bytes size) {
    return all_reduce_time(size, static_cast<double>(sites), network);
  };
  const double every = question.sync_every;
  const Bytes exchanged = 2 * (1 - 1 / static_cast<double>(sites)) * parameters;
  const auto hidden_by_backward = [&](Bytes size) {
    const Seconds time = all(size);
    return std::max(time / static_cast<double>(layers), time - hidden_share * step);
  };
  const auto beside = [&](double neighbours) {
    return std::max(Seconds(), neighbours * parameters / bandwidth + question.latency - step);
  };
  switch (method) {
    case SiteMethod::data_parallel:
      return {hidden_by_backward(parameters), exchanged};
    case SiteMethod::compressed:
      return {hidden_by_backward(parameters / question.compression),
              exchanged / question.compression};
    case SiteMethod::gossip: {
      const auto neighbours = static_cast<double>(gossip_neighbours(GossipGraph::ring, sites));
      return {beside(neighbours), neighbours * parameters};
    }
    case SiteMethod::ad_psgd:
      return {beside(1), parameters};
    case SiteMethod::diloco:
      return {all(parameters) / every, exchanged / every};
    case SiteMethod::streaming: {
      const auto fragments =
          static_cast<double>((layers + kLayersOfAFragment - 1) / kLayersOfAFragment);
      return {fragments * std::max(Seconds(), all(parameters / fragments) - step) / every,
              exchanged / every};
    }
    case SiteMethod::eager:
      break;
  }
  return {std::max(Seconds(), all(parameters) - every * step) / every, exchanged / every};
}

Result<SitesAnswer> answer_sites(SitesQuestion question) {
  auto laws = embedded_local_update_laws();
  if (!laws) return laws.problems();
  auto published = measured_penalties();
  if (!published) return published.problems();
  const Parameters counted = parameters(question.run.model);
  Setting at{.question = std::move(question),
             .laws = std::move(laws).value(),
             .published = std::move(published).value(),
             .parameters = static_cast<double>(counted.total),
             .active = static_cast<double>(counted.active)};
  const Job& job = at.question.run.job;
  at.loss = loss_of(at.question.given.loss, at.active, at.question.given.tokens);
  at.batch = static_cast<double>(job.global_batch) * static_cast<double>(job.sequence);

  SitesAnswer out;
  out.loss = at.loss;
  out.parameters = at.parameters;
  std::map<std::int64_t, Seconds> steps;
  for (const std::int64_t sites : at.question.sites) {
    const auto step = step_of_site(at.question, sites);
    if (step) {
      steps[sites] = *step;
    } else {
      out.left_out.push_back(std::to_string(sites) + " sites (" +
                             printable(step.problems().front().message, 200) + ")");
    }
  }
  for (const BytesPerSecond bandwidth : at.question.bandwidths) {
    std::optional<SiteTime> first;
    for (const auto& [sites, step] : steps) {
      for (std::size_t i = 0; i < kSiteMethods.size(); ++i) {
        const auto method = static_cast<SiteMethod>(i);
        if (sites == 1 && method != SiteMethod::data_parallel) continue;
        out.rows.push_back(time_of(at, method, sites, step, bandwidth));
        const SiteTime& row = out.rows.back();
        if (row.penalty && (!first || row.time < first->time)) first = row;
      }
    }
    if (first) out.first.push_back(*first);
  }
  for (const auto& [sites, step] : steps) {
    for (std::size_t i = 1; i < kSiteMethods.size() && sites > 1; ++i) {
      const auto method = static_cast<SiteMethod>(i);
      if (penalty_of(at, method, sites).factor) {
        out.pays.push_back(pays_below(at, method, sites, step));
      }
    }
  }
  out.question = std::move(at.question);
  return out;
}

}  // namespace headway

// One pass of a serving, as one or in two halves, and what the host takes beside it.
#include <algorithm>

#include "cost/serving/exchange.hpp"
#include "study/infer/parts.hpp"
#include "study/infer/pass/pricer.hpp"

namespace headway {
namespace {

// [INFER-8] Of a replayed pass what lies between its kernels; of another what the host needs to
// launch them beyond what they take on the `device`. [INFER-41] Of one that decodes without graphs
// the longer of both.
Seconds host_time(const Serving& serving, const PassWork& work, double kernels, Seconds device) {
  const Engine& engine = serving.engine;
  if (!work.replayed) {
    const double prompts = work.is_prompt() ? static_cast<double>(work.sequences) : 0;
    return engine.step + std::max(Seconds(0), launch_time(serving, kernels) - device) +
           prompts * (engine.prompt + static_cast<double>(work.tokens) * engine.token);
  }
  const Seconds between = std::max(gaps_of_layers(serving), eager_time(serving, kernels) - device);
  return engine.step + static_cast<double>(work.sequences) * engine.sequence + between;
}

// Of the compute units what kernels of an exchange hold: as many as copy. Those of few tokens hold
// none while data are on their way.
double units_taken(const Serving& serving, const PassWork& work) {
  const auto units = static_cast<double>(serving.cluster.accelerator.compute_units);
  if (units <= 0 || (serving.own_exchange && !work.is_prompt())) return 0;
  return std::min(1.0, static_cast<double>(ExpertExchange{}.units) / units);
}

// [INFER-40] Both halves, what is hidden of their exchange taken from it.
PassTime in_turns(const Serving& serving, const ServingConstants& constants,
                  const std::pair<PassWork, PassWork>& halves, std::vector<PassItem>* items) {
  const PricedPass first = price_pass(serving, constants, halves.first, items);
  const PricedPass second = price_pass(serving, constants, halves.second, items);
  PassTime out = first.time;
  for (std::size_t i = 0; i < out.parts.size(); ++i) out.parts[i] += second.time.parts[i];
  out.rated += second.time.rated;
  out.kernels += second.time.kernels;
  Seconds& exchange = out[ServingPart::ep];
  const double taken = units_taken(serving, halves.first);
  const Seconds hidden =
      hidden_in_turns(first.layers, second.layers, static_cast<double>(serving.pp), taken);
  const double exposed = exchange > Seconds(0) ? std::max(0.0, 1 - hidden / exchange) : 1;
  exchange *= exposed;
  if (items == nullptr) return out;
  for (PassItem& item : *items) {
    if (item.part == ServingPart::ep) item.each *= exposed;
  }
  return out;
}

PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work,
                 std::vector<PassItem>* items) {
  const auto with_host = [&](PassTime pass) {
    pass[ServingPart::host] = host_time(serving, work, pass.kernels, pass.total());
    return pass;
  };
  PassTime out = with_host(price_pass(serving, constants, work, items).time);
  const auto halves = serving.two_batches ? halves_of(work) : std::nullopt;
  if (halves) {
    // Engines split where it is faster.
    std::vector<PassItem> own;
    const PassTime split =
        with_host(in_turns(serving, constants, *halves, items != nullptr ? &own : nullptr));
    if (split.total() < out.total()) {
      out = split;
      if (items != nullptr) *items = std::move(own);
    }
  }
  if (items != nullptr) {
    items->push_back({.part = ServingPart::host, .each = out[ServingPart::host]});
  }
  return out;
}

}  // namespace

PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work) {
  return time_of(serving, constants, work, nullptr);
}

PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work,
                 std::vector<PassItem>& items) {
  items.clear();
  return time_of(serving, constants, work, &items);
}

}  // namespace headway

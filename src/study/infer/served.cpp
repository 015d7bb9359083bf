// What requests get of prefill and decode passes.
#include <algorithm>
#include <numeric>

#include "base/statistics.hpp"
#include "study/infer/energy.hpp"
#include "study/infer/requests.hpp"

namespace headway {
namespace {

Seconds mean_of(const std::vector<double>& seconds) {
  return Seconds(std::accumulate(seconds.begin(), seconds.end(), 0.0) /
                 static_cast<double>(seconds.size()));
}

Quantiles quantiles_of(const std::vector<double>& seconds, Seconds more) {
  const auto at = [&](double q) { return Seconds(quantile(seconds, q).value_or(0)) + more; };
  return {at(0.5), at(0.9), at(0.99)};
}

double share_within(const Answered& by, const Load& load, Seconds request) {
  std::size_t good = 0;
  for (std::size_t i = 0; i < by.latency.size(); ++i) {
    const bool first =
        !load.first_limit || Seconds(by.first_token[i]) + request <= *load.first_limit;
    const bool each = !load.each_limit || Seconds(by.each_token[i]) <= *load.each_limit;
    if (first && each) ++good;
  }
  return static_cast<double>(good) / static_cast<double>(by.latency.size());
}

// Requests a second that one copy answers when as many as memory holds are always there.
double most_answered(const StepTimes& steps, Load load, double sequences, double room) {
  load.arrivals = Arrivals::clients;
  load.batch = static_cast<std::int64_t>(sequences);
  const Answered by = answered(steps, load, room);
  return static_cast<double>(by.latency.size()) / by.elapsed.value();
}

void place(Served& out, const Serving& serving, const StepTimes& steps, const Load& load,
           double most) {
  const double copies = static_cast<double>(serving.dp);
  // [INFER-21] In tokens; states of sequences as if they were some more of each.
  const double all = static_cast<double>(load.input + load.output);
  const double room = out.memory.sequences_that_fit(all) * all;
  if (load.arrivals == Arrivals::random) {
    const double capacity = most_answered(steps, load, std::min(most, kMostSequences), room);
    out.capacity = copies * capacity;
    if (load.rate >= capacity) return;
  }
  const Answered by = answered(steps, load, room);
  const Seconds request = serving.engine.request;
  const Seconds alone = mean_of(by.latency);
  out.first_token = mean_of(by.first_token) + request;
  out.each_token = mean_of(by.each_token);
  out.latency = alone + request;
  out.output_per_second = copies * by.tokens / by.elapsed.value();
  // A client waits for its way in and out, too.
  if (load.arrivals == Arrivals::clients) out.output_per_second *= alone / out.latency;
  out.sequences = std::max(1.0, by.most);
  out.first_quantiles = quantiles_of(by.first_token, request);
  out.each_quantiles = quantiles_of(by.each_token, Seconds(0));
  out.latency_quantiles = quantiles_of(by.latency, request);
  if (load.first_limit || load.each_limit) out.good = share_within(by, load, request);
}

}  // namespace

Served served(const Serving& serving, const ServingConstants& constants, const Load& load,
              const StepTimes* steps) {
  Served out;
  out.memory = memory_of(serving, load.input + load.output);
  const double input = static_cast<double>(load.input), output = static_cast<double>(load.output);
  const bool together = load.arrivals == Arrivals::together;
  // [INFER-5] Those that start together end together, with all their tokens cached; others are
  // spread over their answers, half of which is cached in the mean.
  const double context = together ? input + output : input + output / 2;
  const double most = out.memory.sequences_that_fit(context);
  out.fits = most >= (together ? static_cast<double>(load.batch) : 1.0);
  if (!out.fits) return out;
  out.sequences =
      load.arrivals == Arrivals::random ? 1 : std::min(static_cast<double>(load.batch), most);
  const auto sequences = static_cast<std::int64_t>(out.sequences);

  // [INFER-6] A decode pass takes longer by as much for each token that it makes: the mean is that
  // of the middle. Prompts are taken in as many passes as their tokens need.
  const std::int64_t prompts = std::clamp<std::int64_t>(kMostTokens / load.input, 1, sequences);
  out.prefill =
      time_of(serving, constants,
              {.sequences = together ? prompts : 1, .tokens = load.input, .replayed = false});
  if (together) {
    const double passes = out.sequences / static_cast<double>(prompts);
    out.first_token = passes * out.prefill.total();
  } else {
    std::optional<StepTimes> own;
    if (steps == nullptr) own.emplace(serving, constants, load.input, load.output);
    place(out, serving, steps != nullptr ? *steps : *own, load, most);
  }
  out.decode = time_of(serving, constants,
                       {.sequences = static_cast<std::int64_t>(out.sequences),
                        .tokens = 1,
                        .cached = load.input + load.output / 2});
  if (together) {
    out.each_token = out.decode.total();
    out.latency = out.first_token + (output - 1) * out.each_token;
    out.output_per_second =
        static_cast<double>(serving.dp) * out.sequences * output / out.latency.value();
  }
  out.total_per_second = out.output_per_second * (input + output) / output;
  if (out.stable()) add_energy(out, serving, constants, load, together ? prompts : 1);
  return out;
}

}  // namespace headway

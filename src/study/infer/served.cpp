// What a batch, or a number of clients, gets of prefill and decode passes.
#include <algorithm>

#include "study/infer/clients.hpp"

namespace headway {
Served served(const Serving& serving, const ServingConstants& constants, const Load& load) {
  Served out;
  out.memory = memory_of(serving, load.input + load.output);
  const double input = static_cast<double>(load.input), output = static_cast<double>(load.output);
  // [INFER-5] Those that start together end together, with all their tokens cached; clients are
  // spread over their answers, half of which is cached in the mean.
  const double context = load.clients ? input + output / 2 : input + output;
  const double most = out.memory.cached_tokens / context;
  out.fits = most >= (load.clients ? 1.0 : static_cast<double>(load.batch));
  if (!out.fits) return out;
  out.sequences = std::min(static_cast<double>(load.batch), most);
  const auto sequences = static_cast<std::int64_t>(out.sequences);

  // [INFER-6] A decode pass takes longer by as much for each token that it makes: the mean is that
  // of the middle. Prompts are taken in as many passes as their tokens need.
  out.decode =
      time_of(serving, constants,
              {.sequences = sequences, .tokens = 1, .cached = load.input + load.output / 2});
  const std::int64_t together = std::clamp<std::int64_t>(kMostTokens / load.input, 1, sequences);
  out.prefill =
      time_of(serving, constants,
              {.sequences = load.clients ? 1 : together, .tokens = load.input, .replayed = false});
  const double copies = static_cast<double>(serving.dp);
  if (load.clients) {
    const StepTimes steps(serving, constants, load.input, load.output);
    const Answered by = answered(steps, load, out.memory.cached_tokens);
    out.first_token = by.first_token;
    out.each_token = by.each_token;
    out.latency = by.latency;
    out.output_per_second = copies * by.tokens / by.elapsed.value();
    out.sequences = std::max(1.0, by.most);
  } else {
    const double passes = out.sequences / static_cast<double>(together);
    out.first_token = passes * out.prefill.total();
    out.each_token = out.decode.total();
    out.latency = out.first_token + (output - 1) * out.each_token;
    out.output_per_second = copies * out.sequences * output / out.latency.value();
  }
  out.total_per_second = out.output_per_second * (input + output) / output;
  return out;
}

}  // namespace headway

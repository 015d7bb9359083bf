// What serving draws and takes, by the one model of power that there is [FORECAST-6].
#include "study/infer/energy.hpp"

#include <algorithm>
#include <cmath>

#include "forecast/energy.hpp"
#include "study/infer/summary.hpp"

namespace headway {

// [INFER-22] busy = rated / (stages · time), rated: what a pass' products take at the rate that
// long ones sustain; P = training_power(busy). In the mean over requests busy is the sum of their
// passes' rated times a second; at random moments a copy has none with exp(-rate · latency), as of
// a queue with servers for all, and draws its idle power then. E of a token = P · ranks / (tokens a
// second). Known error: that of [FORECAST-6], which does not tell reading memory from waiting.
void add_energy(Served& out, const Serving& serving, const ServingConstants& constants,
                const Load& load) {
  const Accelerator& accelerator = serving.cluster.accelerator;
  const double stages = static_cast<double>(serving.pp), copies = static_cast<double>(serving.dp);
  const auto power = [&](Seconds rated, Seconds time) {
    return training_power(constants.power, accelerator, rated / (stages * time));
  };
  out.prefill_power = power(out.prefill.rated, out.prefill.total());
  out.decode_power = power(out.decode.rated, out.decode.total());

  const double passes =
      static_cast<double>(load.output - 1) / drafting_of(serving).made() / out.sequences;
  const double requests = out.output_per_second / static_cast<double>(load.output) / copies;
  const double active = load.comes() ? 1 - std::exp(-requests * out.latency.value()) : 1.0;
  const Seconds rated = out.prompt_passes * (out.prefill.rated + out.draft_prompt_rated) +
                        passes * (out.decode.rated + out.draft_rated);
  out.mean_power =
      active * power(rated, Seconds(active / requests)) + (1 - active) * idle_power(accelerator);
  out.energy_of_token =
      out.mean_power * static_cast<double>(serving.ranks()) * Seconds(1 / out.output_per_second);
  if (load.arrivals == Arrivals::together) {
    out.prompt_share = out.first_token / out.latency;
    return;
  }
  const Seconds prompt = out.prompt_passes * out.prefill.total(),
                answer = passes * (out.decode.total() + out.draft);
  out.prompt_share = prompt / (prompt + answer);
}

// [INFER-22] Accelerators of prefill wait where no prompt is there, a share 1 - r·T of the time;
// those of decode as others do. Each part costs what its accelerators do.
void add_energy(Served& out, const ServingApart& apart, const ServingConstants& constants,
                const Load& load) {
  const Accelerator& accelerator = apart.decode.cluster.accelerator;
  const auto power = [&](Seconds rated, Seconds time, const Serving& part) {
    return training_power(constants.power, accelerator,
                          rated / (static_cast<double>(part.pp) * time));
  };
  const auto mean = [&](double active, Watts working) {
    return active * working + (1 - active) * idle_power(accelerator);
  };
  // Requests a second, to each copy of attention of either.
  const double all = out.output_per_second / static_cast<double>(load.output);
  const double to_prefill = all / static_cast<double>(apart.prefill_copies * apart.prefill.dp);
  const double to_decode = all / static_cast<double>(apart.decode_copies * apart.decode.dp);
  out.prefill_power = power(out.prefill.rated, out.prefill.total(), apart.prefill);
  out.decode_power = power(out.decode.rated, out.decode.total(), apart.decode);

  const double prompts = to_prefill * out.prompt_passes;  // passes a second
  const double prefilling = std::min(1.0, prompts * out.prefill.total().value());
  const Watts prefill =
      mean(prefilling, power(out.prefill.rated, Seconds(prefilling / prompts), apart.prefill));
  const bool waits = load.arrivals != Arrivals::clients;
  const Seconds answering = out.latency - out.first_token;
  const double active = waits ? 1 - std::exp(-to_decode * answering.value()) : 1.0;
  const double sequences = std::max(1.0, out.sequences / static_cast<double>(apart.decode.dp));
  const double passes =
      static_cast<double>(load.output - 1) / drafting_of(apart.decode).made() / sequences;
  const Seconds rated = passes * (out.decode.rated + out.draft_rated);
  const Watts decode = active > 0
                           ? mean(active, power(rated, Seconds(active / to_decode), apart.decode))
                           : idle_power(accelerator);
  const double ranks = static_cast<double>(apart.ranks());
  out.prompt_share = static_cast<double>(apart.prefill_ranks()) / ranks;
  out.mean_power = out.prompt_share * prefill + (1 - out.prompt_share) * decode;
  out.energy_of_token = out.mean_power * ranks * Seconds(1 / out.output_per_second);
}

}  // namespace headway

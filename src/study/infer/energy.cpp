// What serving draws and takes, by the one model of power that there is [FORECAST-6].
#include "study/infer/energy.hpp"

#include <cmath>

#include "forecast/energy.hpp"

namespace headway {

// [INFER-22] busy = rated / (stages · time), rated: what a pass' products take at the rate that
// long ones sustain; P = training_power(busy). In the mean over requests busy is the sum of their
// passes' rated times a second; at random moments a copy has none with exp(-rate · latency), as of
// a queue with servers for all, and draws its idle power then. E of a token = P · ranks / (tokens a
// second). Known error: that of [FORECAST-6], which does not tell reading memory from waiting.
void add_energy(Served& out, const Serving& serving, const ServingConstants& constants,
                const Load& load, std::int64_t prompts) {
  const Accelerator& accelerator = serving.cluster.accelerator;
  const double stages = static_cast<double>(serving.pp), copies = static_cast<double>(serving.dp);
  const auto power = [&](Seconds rated, Seconds time) {
    return training_power(constants.power, accelerator, rated / (stages * time));
  };
  out.prefill_power = power(out.prefill.rated, out.prefill.total());
  out.decode_power = power(out.decode.rated, out.decode.total());

  const double passes = static_cast<double>(load.output - 1) / out.sequences;
  const double share = 1 / static_cast<double>(prompts);
  const double requests = out.output_per_second / static_cast<double>(load.output) / copies;
  const double active =
      load.arrivals == Arrivals::random ? 1 - std::exp(-load.rate * out.latency.value()) : 1.0;
  const Seconds rated = share * out.prefill.rated + passes * out.decode.rated;
  out.mean_power =
      active * power(rated, Seconds(active / requests)) + (1 - active) * idle_power(accelerator);
  out.energy_of_token =
      out.mean_power * static_cast<double>(serving.ranks()) * Seconds(1 / out.output_per_second);
  const Seconds prompt = share * out.prefill.total(), answer = passes * out.decode.total();
  out.prompt_share = prompt / (prompt + answer);
}

}  // namespace headway

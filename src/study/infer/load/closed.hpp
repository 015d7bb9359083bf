// What requests get, in closed form, where one holds: beside their simulation, and where many
// configurations are asked for. Formulas: docs/models/infer.md.
#pragma once

#include <optional>

#include "study/infer/load/answered.hpp"

namespace headway {

/// [INFER-17] Seconds that random requests (`rate` a second) wait for one server that takes them in
/// turn, in the mean: r·E[S²]/(2·(1 - r·E[S])) (Pollaczek and Khinchine; M/G/1); nothing where the
/// queue has no end.
std::optional<double> queue_wait(double rate, double service, double service_squared);
/// Where all take as long (M/D/1).
std::optional<double> queue_wait(double rate, double service);

/// [INFER-17] Wait and prefill of prompts that take one accelerator `service` seconds: on several
/// that are together `speedup` times as fast, and in a pipeline of stages that have an even part
/// each (DistServe, arXiv 2401.09670 §3.1). The first is shorter at low rates, the second at high
/// ones where the speed-up is less than the number of stages.
std::optional<double> prompt_time_of_tensors(double rate, double service, double speedup);
std::optional<double> prompt_time_of_stages(double rate, double service, double stages);

/// In the mean.
struct Fluid {
  double first_token = 0, each_token = 0;  // seconds
  double rate = 0;                         // requests a second that are answered
  double decoding = 0;                     // sequences at a time, of one engine
};

/// [INFER-17] The steady state of one engine. Of clients; of random requests nothing where they are
/// more than it answers. Holds where nobody is put back and prompts are in different steps: of
/// clients, once their answers' lengths or their beginnings have drawn them apart.
std::optional<Fluid> in_closed_form(const Engined& engine, const Load& load);
/// [INFER-17] Clients of requests of one length that began together and stay so: their prompts
/// share as few steps as hold them, and are all answered before the next come.
Fluid in_step(const Engined& engine, const Load& load);
/// Requests a second that are answered where as many wait as one likes.
double most_rate(const Engined& engine, const Load& load);

/// Of an engine that takes in prompts alone.
struct PromptTimes {
  double alone = 0;     // seconds of a prompt that nobody is beside
  double together = 0;  // of each in the fullest steps
};
PromptTimes prompt_times(const Engined& engine, const Load& load);
/// Sequences that one decodes at a time at most, with no prompts beside them.
double most_decoding(const Engined& engine, const Load& load);

/// [INFER-19] Requests a second of all copies: what each part could answer, were the others free.
struct ApartRates {
  double prefill = 0, move = 0, decode = 0;
  double least() const;
};
ApartRates rates_of(const Apart& apart, const Load& load);
std::optional<Fluid> in_closed_form(const Apart& apart, const Load& load);

}  // namespace headway

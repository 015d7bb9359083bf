// What serving draws and takes. Internal to src/study/infer.
#pragma once

#include "study/infer/apart.hpp"

namespace headway {

/// Fills power and energy of `out`, whose times are there; a prompt takes so many of its prefill
/// passes.
void add_energy(Served& out, const Serving& serving, const ServingConstants& constants,
                const Load& load, double passes_of_prompt);
/// The same of prefill and decode apart.
void add_energy(Served& out, const ServingApart& apart, const ServingConstants& constants,
                const Load& load);

}  // namespace headway

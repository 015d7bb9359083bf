// What serving draws and takes. Internal to src/study/infer.
#pragma once

#include "study/infer/apart.hpp"

namespace headway {

/// Fills power and energy of `out`, whose times are there.
void add_energy(Served& out, const Serving& serving, const ServingConstants& constants,
                const Load& load);
/// The same of prefill and decode apart.
void add_energy(Served& out, const ServingApart& apart, const ServingConstants& constants,
                const Load& load);

}  // namespace headway

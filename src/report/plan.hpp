// plan: the best layouts of a run.
#pragma once

#include <string>

#include "study/plan/plan.hpp"
#include "study/plan/timing/timing.hpp"

namespace headway {

/// A table for a terminal of 80 columns, and what follows from it.
std::string plan_text(const Plan& plan);
/// How that begins where something fits: all that is known before what follows.
std::string plan_text_begin(const Plan& plan);
/// The fields are listed in docs/plan.md.
std::string plan_json(const Plan& plan);
/// Time against memory: the front and the best of each kind.
std::string plan_svg(const Plan& plan);

/// The searched fields of a layout as flags: "--dp 8 --tp 4".
std::string layout_flags(const Run& run, const Layout& layout);
/// "dp 8 tp 4 pp 2 ...": what is not 1, off or the framework's own.
std::string layout_words(const Layout& layout);

/// How long it takes, as two tables.
std::string timing_text(const PlanTiming& timing);

}  // namespace headway

// scale run --phases: a run in phases, as text and JSON.
#pragma once

#include <string>

#include "study/phases/phases.hpp"

namespace headway {

std::string phases_text(const PhasesAnswer& answer);
std::string phases_json(const PhasesAnswer& answer);

}  // namespace headway

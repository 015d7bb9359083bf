// simulate codesign: as text for people and as JSON.
#pragma once

#include <string>

#include "simulate/codesign/sweep.hpp"

namespace headway {

std::string simulate_codesign_text(const Codesign& found);
std::string simulate_codesign_json(const Codesign& found);

}  // namespace headway

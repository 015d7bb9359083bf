// advise: what would make a run faster, by its own trace.
#pragma once

#include <string>

#include "study/advise/advise.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string advise_text(const Advised& advised);
std::string advise_json(const Advised& advised);

}  // namespace headway

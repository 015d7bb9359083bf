// What a design study found, as text, JSON, CSV and drawings.
#pragma once

#include <string>
#include <vector>

#include "platform/output.hpp"
#include "study/design/design.hpp"

namespace headway {

/// A row for each machine, elasticities of the one as it is, where what binds changes.
std::string design_text(const DesignAnswer& design);
/// {workload, gpus, base, points: [{choice, times_s, bound_s, elasticities, ...}], moves}.
std::string design_json(const DesignAnswer& design);
/// A row for each machine.
std::string design_csv(const DesignAnswer& design);
/// Drawings in `folder`: the first time along the first axis of numbers, where there is one; speed
/// against power.
std::vector<OutputFile> design_plots(const DesignAnswer& design, const std::string& folder);

/// "memory hbm4, link nvlink5" of a place; empty: as it is. Leaves out the axis `but`.
std::string words_of(const DesignAnswer& design, const std::vector<std::size_t>& at,
                     std::size_t but = static_cast<std::size_t>(-1));

}  // namespace headway

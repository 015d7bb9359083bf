// What the drawings of measured communication share.
#pragma once

#include <string>
#include <vector>

#include "report/comms_measured.hpp"

namespace headway {

/// The operations that occur, each once.
std::vector<Operation> operations_of(const Measured& measured);

/// Calls by rank on one clock, computation below; empty where the source has no times.
std::string timeline_plot(const Measured& measured);

}  // namespace headway

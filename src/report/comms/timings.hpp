// comms with traces: times as tables for other programs.
#pragma once

#include <string>

#include "study/measured/measured.hpp"

namespace headway {

/// Every step of every rank as a row; what is not known is an empty field.
std::string steps_csv(const Measured& measured);
/// Kernels by their names and matrix products by their shapes, what takes longest first.
std::string kernels_csv(const Measured& measured);

}  // namespace headway

// Gradients of a whole step that travel compressed.
#pragma once

#include <string>

#include "layout/run.hpp"
#include "step/methods/compress.hpp"
#include "step/step.hpp"

namespace headway {

/// [SIM-52] Of all stages. Why it cannot; empty: it did.
std::string compress_gradients(Step& step, const Run& run, const Compression& compression);

}  // namespace headway

// What a run's critical batch goes by. Internal to src/study/lifetime.
#pragma once

#include "study/lifetime/assumption_reader.hpp"

namespace headway {

/// Tokens that are given, or a law: of the loss, of tokens, of a file, of public points.
void read_batch_law(AssumptionReader& in, Problems& problems, GivenAssumptions& out);

}  // namespace headway

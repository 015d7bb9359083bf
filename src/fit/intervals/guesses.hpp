// What decides a measured run's result and is a guess of how its row was read.
#pragma once

#include "fit/corpus/run.hpp"
#include "forecast/intervals/intervals.hpp"

namespace headway {

/// Decisive cells (data/corpus) that are assumed and do not follow from others of the row; a
/// framework that no rule names.
Guesses guesses_of(const CorpusRun& run);

}  // namespace headway

// The rows of a corpus that say something about the constants of whole steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fit/corpus/corpus.hpp"
#include "fit/corpus/run.hpp"

namespace headway {

/// One run with what was measured of it.
struct MeasuredRun {
  std::string id, source, accelerator;  // as the corpus names them
  CorpusRun run;                        // recomputation decided
  std::optional<double> step_time;      // s; of runs that ran
  std::optional<double> memory;         // B, without the driver's context
  bool ran = true;                      // false: out of memory
};

/// The rows that can be predicted, in the order of the corpus.
std::vector<MeasuredRun> measured_runs(const Corpus& corpus);

}  // namespace headway

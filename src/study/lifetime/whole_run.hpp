// A whole training run with all that its answer needs, and the same on other numbers of
// accelerators.
#pragma once

#include <string>
#include <vector>

#include "run/run.hpp"
#include "study/lifetime/assumptions.hpp"
#include "study/lifetime/providers.hpp"

namespace headway {

struct WholeRun {
  RequestedRun run;
  Forecast forecast;
  GivenAssumptions given;
  RunAssumptions assumed;
  std::vector<AssumedValue> values;  // of them, with their sources
  RunCost cost;
  double loss = 0;                           // of the law, nats a token
  double critical_batch = 0;                 // tokens
  double batch = 0;                          // tokens
  std::vector<ProviderRate> providers = {};  // of its accelerator
};
/// Of a legal run.
Result<WholeRun> whole_run(RequestedRun run, GivenAssumptions given);
/// Of the fields of a run and of its assumptions; or everything that is wrong with them.
Result<WholeRun> whole_run(const RunRequest& request);

/// The same with `accelerators` data-parallel shares of another number: the batch as it is, or
/// grown in proportion with the tokens that the same loss then takes.
struct ScaledRun {
  double factor = 1;
  bool grown = false;
  WholeRun whole;
};
struct ScaledRuns {
  std::vector<ScaledRun> runs;
  std::vector<std::string> left_out;  // which and why, as "4,096 accelerators do not fit"
};
/// 1/4 to 16 times the accelerators, of those that are legal, fit and come to an end.
ScaledRuns by_accelerators(const WholeRun& base);

}  // namespace headway

// What is assumed of a whole run: what was given, over defaults that carry their source.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "study/laws/steps_law.hpp"
#include "study/lifetime/convergence.hpp"
#include "study/lifetime/run_cost.hpp"

namespace headway {

/// What `scale run` takes besides the fields of a run, which may stand in a run file as well.
std::span<const RunField> scale_run_fields();

/// What was given of RunAssumptions, and the laws that were asked for. Unset: the default.
struct GivenAssumptions {
  double tokens = 0;
  std::optional<Seconds> mtbf;  // 0: nothing ever fails
  std::optional<double> hardware_share;
  std::optional<Seconds> restart, repair;
  std::optional<BytesPerSecond> checkpoint_bandwidth;
  std::optional<Bytes> checkpoint_size;
  std::optional<Seconds> checkpoint_blocking, interval;
  std::optional<std::int64_t> spares;
  double step_noise = 0;           // spread of one accelerator's step time, a share of it
  std::vector<double> step_times;  // s, measured: instead of a spread
  std::optional<double> price, pue, carbon;
  LossLaw loss;
  CriticalBatchLaw critical_law;
  std::optional<double> critical_batch;  // tokens; unset: by the law at the loss
  std::optional<StepsLaw> batch_law;     // instead: of points to a target
  // Instead: critical_batch at so many tokens, growing with them to a power.
  std::optional<double> critical_at, critical_exponent;
  std::string tokens_law_source;  // of a published one; empty: none, or one's own
  // Of sparse training over dense: samples to a loss with small batches, steps with large ones.
  SparsityFactors factors;
  RunRequest fields = {};  // as they were given
};

/// The loss that a model of so many parameters reaches on the tokens, sparse training's factor
/// among them [SCALE-12] [LAW-16].
double loss_reached(const GivenAssumptions& given, double parameters);
/// Tokens: the critical batch of a run at its loss and tokens, by the law that was asked for
/// [SCALE-11] [LAW-23] [LAW-16].
double critical_batch_of(const GivenAssumptions& given, double loss, std::int64_t sequence);

/// Reads fields that are all of scale_run_fields().
Result<GivenAssumptions> read_assumptions(const RunRequest& fields);
/// Nothing given but the tokens.
Result<GivenAssumptions> assume_all_but(double tokens);

/// What is assumed of a run on `accelerators` of the cluster.
Result<RunAssumptions> assumptions_for(const GivenAssumptions& given, const Cluster& cluster,
                                       std::int64_t accelerators);

/// A value that an answer rests on, and where it comes from.
struct AssumedValue {
  std::string name;    // as the flag
  std::string value;   // with its unit
  std::string source;  // "given", or who says so
  bool given = false;
};
Result<std::vector<AssumedValue>> assumed_values(const GivenAssumptions& given,
                                                 const RunAssumptions& assumed,
                                                 const Cluster& cluster);

/// Fields of a request that are of a run, and those that are of scale_run_fields().
struct SplitRequest {
  RunRequest run, scale;
};
SplitRequest split(const RunRequest& request);

/// Takes fields out of those of a run that neither a run, scale_run_fields() nor `more` knows, each
/// with a problem that names the nearest of all.
void refuse_unknown(RunRequest& run, std::span<const RunField> more, Problems& problems);

}  // namespace headway

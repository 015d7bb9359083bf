// From a row of a corpus to a run that can be forecast.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "cost/calibration/calibration.hpp"
#include "fit/corpus/corpus.hpp"
#include "fit/corpus/rules.hpp"
#include "layout/run.hpp"

namespace headway {

/// A cluster with its calibration for software of one date.
struct Machine {
  Cluster cluster;
  double software = 0;
  Benchmarked alone;
  Calibration calibration;
};

/// What may be done where memory does not suffice.
struct Remedy {
  Recompute recompute = Recompute::none;
  std::uint8_t pieces = bit(Piece::core);
  std::int64_t one_in = 1;  // full: of so many layers
  bool offload_activations = false;
  bool as_stated = false;  // nothing beyond what the row says
  friend bool operator==(const Remedy&, const Remedy&) = default;
};

/// A legal run, by the source's convention of FLOPs and MFU.
struct CorpusRun : Run {
  std::shared_ptr<const Machine> machine;  // the cluster with its constants
  bool first_rank_reports = false;         // the peak in the row is rank 0's
  std::vector<Remedy> remedies;      // what may be recomputed: to be tried, the lightest first
  std::vector<std::string> assumed;  // "cell=value"
  std::set<std::string> derived;     // cells among them that follow from others of the row
};

/// What rows share, loaded once: built-in models and machines.
class Shelf {
 public:
  const Result<Model>& model(const std::string& name);
  /// A built-in cluster with software of a date in years (0: today's); `network_gbps` above 0: with
  /// that bandwidth of each accelerator, Gb/s per direction, outside of a node; with settings of
  /// its own (CorpusRow::settings).
  using Settings = std::vector<std::string>;
  const Result<std::shared_ptr<const Machine>>& machine(const std::string& name,
                                                        double network_gbps, double software,
                                                        const Settings& settings = {});

 private:
  std::optional<Result<StepConstants>> constants_;
  std::map<std::string, Result<Model>> models_;
  std::map<std::tuple<std::string, double, Settings, double>,
           Result<std::shared_ptr<const Machine>>>
      machines_;
};

/// What the rules of data/corpus decide of a run that its row does not state: kernels, formats,
/// recomputation, overlap. Guesses go to CorpusRun::assumed.
void set_by_rules(const CorpusRow& row, CorpusRun& run);

/// Columns of the rules that nothing reads, and values that mean nothing.
Problems meaningless_rules(const CorpusRules& rules);

/// The framework family of the row.
Framework framework_of(const CorpusRow& row);

/// The model of the row: the built-in one its name tells, or of its family, in the row's shape.
/// A reason stands in Problem::where ("cell missing: layers"), details in the message.
Result<Model> model_of(const CorpusRow& row, Shelf& shelf, std::vector<std::string>& assumed);

/// A legal run, or why the row cannot be predicted, as above. Only the first reason is given.
Result<CorpusRun> run_of(const CorpusRow& row, Shelf& shelf);

}  // namespace headway

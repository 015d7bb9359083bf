// A run: a model, a cluster, a job and a layout as one value. Who needs all of them takes a run;
// who reads parts of it takes those, and says with them what its answer hangs on.
#pragma once

#include <concepts>
#include <memory>
#include <optional>

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "layout/job.hpp"
#include "layout/layout.hpp"
#include "layout/own_runs.hpp"
#include "model/count.hpp"
#include "model/model.hpp"

namespace headway {

struct FieldRow;

struct Run {
  Model model;
  Cluster cluster;
  Job job;
  Layout layout;
  AttentionFlops convention = AttentionFlops::full;  // of model FLOPs and MFU
  std::shared_ptr<const OwnRuns> own = {};           // measured steps of one's own; null: none
};

/// What own runs say of this one's setup; null: nothing.
const OwnSetup* own_setup(const Run& run);

/// The number of a field [layout/fields.hpp] of this run; nothing of a model or cluster.
std::optional<double> number_of(const Run& run, const FieldRow& row);
/// Sets it; what follows from other fields stays as it is.
void set_number(Run& run, const FieldRow& row, double number);
/// The run, and what stands beside it, with another number there.
template <std::derived_from<Run> AnyRun>
AnyRun with(AnyRun run, const FieldRow& row, double number) {
  set_number(run, row, number);
  return run;
}

/// Everything that makes the layout illegal for this model, job and cluster, each with what would
/// be legal, and the fields of the run that it is about.
Problems check(const Run& run);

/// A network's layout knows how many of its ranks a node has; tables of embeddings lie on all
/// ranks: where the model has some, ep is dp.
void spread_tables(const Model& model, const Cluster& cluster, Layout& layout);

/// What of that hangs on the model and the degrees alone, which are at least 1: how layers and
/// experts are cut over ranks. `copies`: of experts, which have places on ranks beside them.
Problems check_split(const Model& model, const Layout& layout, std::int64_t copies = 0);

/// Whether check() finds nothing, in less time.
bool is_legal(const Run& run);
/// Whether it would with another layout.
bool is_legal(const Run& run, const Layout& layout);

}  // namespace headway

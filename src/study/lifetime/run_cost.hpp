// A whole training run: from one step's forecast to days, accelerator-hours, energy, money and CO2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "forecast/energy.hpp"
#include "forecast/forecast.hpp"
#include "layout/run.hpp"
#include "study/lifetime/goodput.hpp"

namespace headway {

/// What is assumed of a run beyond its step.
struct RunAssumptions {
  double tokens = 0;
  Seconds mtbf;  // of one accelerator; 0: nothing ever fails
  double hardware_share = 0;
  Seconds restart, repair;
  BytesPerSecond checkpoint_bandwidth;         // of the storage, all ranks together
  std::optional<Bytes> checkpoint_size;        // not given: of the model and its optimiser
  std::optional<Seconds> checkpoint_blocking;  // not given: training waits for the whole write
  std::optional<Seconds> interval;             // not given: the best
  std::optional<std::int64_t> spares;          // nodes; not given: so many as cost least
  double slowest_share = 0;  // of a step's time that stragglers add on top of the forecast's
  double price = 0;          // US dollars for an accelerator's hour; 0: not known
  double pue = 1;
  double carbon = 0;  // kg CO2 equivalent a kWh
};

/// data/economics/run.toml for a run on `accelerators`; price and PUE are those of the cluster.
Result<RunAssumptions> default_assumptions(const Cluster& cluster, std::int64_t accelerators);

/// Where a default comes from.
struct AssumptionSource {
  std::string name, value, source;
};
Result<std::vector<AssumptionSource>> default_sources();

/// A checkpoint: the weights as the products read them, the master copy where there is one, and the
/// optimiser's states, of each parameter once [SCALE-16].
Bytes checkpoint_bytes(const Model& model, const Job& job);

/// Energy by what the run does meanwhile, of all accelerators with their hosts, cooling included.
struct RunEnergy {
  Joules training, checkpoints, lost_work, restarts, waiting, spares;
  Joules total() const { return training + checkpoints + lost_work + restarts + waiting + spares; }
};

struct RunCost {
  double steps = 0;
  Seconds step_time;  // the forecast's, with the stragglers that were asked for
  Bytes checkpoint;
  Reliability reliability;
  Seconds interval;       // between checkpoints
  bool hopeless = false;  // it fails before it passes from a checkpoint to the next
  RunTime time;
  Seconds early, late;  // one in ten runs is faster, one in ten slower, by the luck of failures
  std::int64_t accelerators = 0, spare_nodes = 0, spare_accelerators = 0;
  Seconds accelerator_time;  // accelerators × time, spares not included
  Seconds spare_time;
  Watts accelerator_power;  // the mean while training
  RunEnergy energy;
  double price = 0;   // US dollars, spares included; 0: not known
  double carbon = 0;  // kg CO2 equivalent
};

/// The parts of time and of energy sum to their totals.
RunCost run_cost(const Run& run, const Forecast& forecast, const RunAssumptions& assumptions,
                 const PowerConstants& power);

/// Accelerators that go to repair together: those of a host.
std::int64_t accelerators_of_node(const Cluster& cluster);

}  // namespace headway

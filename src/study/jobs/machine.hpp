// What a stream of jobs runs on: servers of which each runs one job at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "study/ramp/machine.hpp"
#include "study/ramp/profile.hpp"

namespace headway {

using BusyServers = std::vector<bool>;

/// A job that has found its servers, how long it takes there and what it draws meanwhile.
struct JobStart {
  std::vector<std::size_t> servers;
  Seconds time;
  Joules energy{};      // of its servers, where the machine knows it
  double failures = 0;  // that its time expects
};

/// A job that runs: what it is, and on which servers, in their order.
struct RunsOn {
  std::size_t kind = 0;
  int degree = 0;
  std::span<const std::size_t> servers;
};

/// What a fleet costs whatever runs on it; of one server.
struct FleetCosts {
  std::int64_t accelerators = 1;
  Watts idle;        // with its host, cooling included
  double price = 0;  // US dollars an hour; 0: not known
};

/// What may run and how: kinds of jobs, the degrees of parallelism that a machine offers, and where
/// a job of a degree goes. What it answers hangs on its arguments alone.
class JobMachine {
 public:
  JobMachine() = default;
  JobMachine(const JobMachine&) = delete;
  JobMachine& operator=(const JobMachine&) = delete;
  virtual ~JobMachine() = default;

  virtual std::size_t servers() const = 0;
  virtual const std::vector<std::string>& kinds() const = 0;
  /// The time on one server, of which a limit is a fraction.
  virtual Seconds alone(std::size_t kind) const = 0;
  /// Degrees that a job of this kind can ask for where so many servers are free, in order.
  virtual std::vector<int> degrees(std::size_t kind, std::size_t free) const = 0;
  /// Nothing: there is no place.
  virtual std::optional<JobStart> start(std::size_t kind, int degree,
                                        const BusyServers& busy) const = 0;
  /// Whether jobs take longer for one another: slowdowns() says how much.
  virtual bool shares_links() const { return false; }
  /// What each of the jobs that run side by side takes over what it takes alone.
  virtual std::vector<double> slowdowns(std::span<const RunsOn> jobs) const {
    return std::vector<double>(jobs.size(), 1);
  }
  /// Nothing: the machine's power and price are not known.
  virtual std::optional<FleetCosts> costs() const { return std::nullopt; }
};

/// PAC-ML's environment: profiles in `steps` steps of training each, at most `most_degree` parts.
/// Answers are kept: jobs ask for few places often. One thread at a time.
std::unique_ptr<JobMachine> ramp_job_machine(const RampMachine& machine,
                                             std::vector<ModelProfile> profiles, int steps = 50,
                                             int most_degree = 16);

}  // namespace headway

// The best layout of a model on a number of GPUs, and the smallest cluster that finishes in time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "limits/search/step.hpp"

namespace headway::limits {

/// A model trained on a cluster with its best layout.
struct Run {
  Shape shape;
  std::int64_t gpus = 0;
  Layout layout;
  StepTimes step;
  Seconds duration;  // of the whole run
  double utilization = 0;
};

/// GPUs of the clusters that are looked at, ascending, from the first one on that could finish
/// within `duration` at its sustained peak.
std::vector<std::int64_t> clusters(const Setting& setting, const Shape& shape, Seconds duration);

/// Searches the layouts of one model. Keeps what does not depend on the size of the cluster.
class Search {
 public:
  Search(const Setting& setting, const Shape& shape);
  ~Search();
  Search(Search&&) noexcept;

  /// The fastest layout on `gpus`, of equally fast ones that with the least communication; nothing
  /// where none fits or none ends within `duration`. [LIMIT-17]
  std::optional<Run> fastest(std::int64_t gpus, Seconds duration);

  /// The run on the smallest cluster, experts x 2^i GPUs, that ends within the setting's duration.
  std::optional<Run> smallest_cluster();

  /// The fastest run on any such cluster, where one takes less than `longest`; sooner found where
  /// the best cluster is near `likely` GPUs (0: not known).
  std::optional<Run> fastest_of_all(Seconds longest, std::int64_t likely = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headway::limits

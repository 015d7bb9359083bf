// Training of one model as several narrow ones, each on GPUs of its own. Internal to src/limits.
#pragma once

#include <cstdint>
#include <optional>

#include "limits/search/search.hpp"

namespace headway::limits {

/// The layouts of one group of GPUs, which trains a model of 1/n of the feed-forward width between
/// exchanges. [LIMIT-30]
class Submodels {
 public:
  Submodels(const Setting& setting, const Shape& shape);
  Submodels(const Submodels&) = delete;
  Submodels& operator=(const Submodels&) = delete;

  /// As Search::fastest() of all groups together; the layout is that of one.
  std::optional<Run> fastest(std::int64_t gpus, Seconds duration);

 private:
  const Setting& setting_;
  const Shape& shape_;
  Setting inside_;
  Shape of_group_;
  Search search_;
};

}  // namespace headway::limits

// How a run is split over the GPUs: the five degrees, where they lie on the levels, the schedule.
#pragma once

#include <array>
#include <cstdint>

#include "limits/machine.hpp"

namespace headway::limits {

/// A parallel degree as the product of its parts on the levels.
struct Split {
  std::array<std::int64_t, kMostLevels> at{1, 1, 1, 1, 1, 1};

  std::int64_t degree() const {
    std::int64_t product = 1;
    for (const std::int64_t part : at) product *= part;
    return product;
  }
  friend bool operator==(const Split&, const Split&) = default;
};

struct Layout {
  Split data, tensor_model, tensor_ff, pipeline, expert;
  std::int64_t micro_batches = 1;
  std::int64_t interleave = 1;  // virtual stages of a pipeline stage
  bool zero_bubble = false;     // schedule ZB-H2 of Qi et al. 2023

  std::int64_t gpus() const {
    return data.degree() * tensor_model.degree() * tensor_ff.degree() * pipeline.degree() *
           expert.degree();
  }
  friend bool operator==(const Layout&, const Layout&) = default;
};

}  // namespace headway::limits

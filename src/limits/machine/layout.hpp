// How a run is split over the GPUs: the five degrees, where they lie on the levels, the schedule.
#pragma once

#include <array>
#include <cstdint>

#include "limits/machine/machine.hpp"

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

/// The five degrees, wherever they lie.
struct Degrees {
  std::int64_t data = 1, tensor_model = 1, tensor_ff = 1, pipeline = 1, expert = 1;
};

struct Layout {
  Split data, tensor_model, tensor_ff, pipeline, expert;
  std::int64_t micro_batches = 1;
  std::int64_t interleave = 1;  // virtual stages of a pipeline stage
  bool zero_bubble = false;     // schedule ZB-H2 of Qi et al. 2023

  Degrees degrees() const {
    return {data.degree(), tensor_model.degree(), tensor_ff.degree(), pipeline.degree(),
            expert.degree()};
  }
  std::int64_t gpus() const {
    const Degrees d = degrees();
    return d.data * d.tensor_model * d.tensor_ff * d.pipeline * d.expert;
  }
  friend bool operator==(const Layout&, const Layout&) = default;
};

}  // namespace headway::limits

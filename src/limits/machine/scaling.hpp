// Which model is trained with how much compute: widths, layers, experts, batch.
#pragma once

#include <cstdint>
#include <vector>

#include "limits/machine/setting.hpp"

namespace headway::limits {

/// The element of the grid {1, 3, 5, 7, 9} x 2^i, i = 0 ... 59, nearest to `value`; of two equally
/// near ones the smaller. [LIMIT-4]
std::int64_t nearest_on_grid(double value);

/// One model and the batch it is trained with.
struct Shape {
  std::int64_t d_model = 0, d_ff = 0, layers = 0;
  std::int64_t experts = 1;  // of a layer; each token uses one
  std::int64_t batch_sequences = 0;
  std::int64_t batch_tokens = 0;
  double parameters = 0;  // all experts
  double tokens = 0;      // of the whole run
  Flops training;         // of the whole run
  Flops learned;          // of the synchronous run that learns as much [LIMIT-26]
};

/// The model of a width. [LIMIT-5] [LIMIT-6]
Shape shape_of(const Setting& setting, std::int64_t d_model);

/// Sequences of the largest useful batch. [LIMIT-7]
std::int64_t critical_batch_sequences(const BatchLaw& law, std::int64_t sequence,
                                      std::int64_t experts, Flops training);

/// The widths of a setting's curve, ascending: {1, 3, 5 ... 15} x 2^i, i = 11 ... 21, between the
/// first and the last width.
std::vector<std::int64_t> widths(const Setting& setting);

/// Steps of the whole run.
double steps_of(const Shape& shape);

}  // namespace headway::limits

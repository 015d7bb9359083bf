// One row of each form of benchmark file predicted.
#pragma once

#include <optional>

#include "fit/benchmarks/benchmarks.hpp"
#include "fit/benchmarks/cells.hpp"
#include "fit/benchmarks/words.hpp"
#include "fit/collectives/data.hpp"

namespace headway::benchmarks {

/// What all rows are read with.
struct Bench {
  const Words& words;
  Machines machines;
  CollectiveSystems systems;      // which cluster the hardware of collectives names
  std::optional<Joined> cluster;  // given: on which all collectives ran
};

/// The accelerator that the column names, put into row.machine; nothing where it is not known, and
/// cells.reason says so.
struct Placed {
  const Machine& said;
  const Accelerated& on;
};
std::optional<Placed> accelerator_of(BenchmarkRow& row, Cells& cells, Bench& bench);
/// The format that the column names, put into row.format.
const Format* format_of(std::string_view column, BenchmarkRow& row, Cells& cells, Bench& bench);

/// "< 128 rows" ... of products and attention, by rows of the operand that counts tokens.
std::string rows_class(std::int64_t rows);

/// Each fills row.op, size, measured and predicted; what keeps it from being predicted is in
/// `cells`.
void predict_product(BenchmarkRow& row, Cells& cells, Bench& bench);
void predict_inference_kernel(BenchmarkRow& row, Cells& cells, Bench& bench);
void predict_collective(BenchmarkRow& row, Cells& cells, Bench& bench);

}  // namespace headway::benchmarks

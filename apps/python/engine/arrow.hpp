// Columns for any reader of Arrow (pyarrow, Polars, DuckDB, pandas), by its C stream interface:
// https://arrow.apache.org/docs/format/CStreamInterface.html. The numbers are not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "object.hpp"

namespace headway::python {

/// A column of numbers, or of texts where `offsets` is not empty: `bytes` holds them one behind the
/// other, and text i ends where text i + 1 begins.
struct ArrowColumn {
  std::string name;
  const double* numbers = nullptr;
  std::vector<std::int64_t> offsets = {};
  std::string bytes = {};
};

struct ArrowColumns {
  std::vector<ArrowColumn> columns;
  std::size_t rows = 0;
  Object owner;  // of the numbers
};

/// A capsule "arrow_array_stream" of one batch.
Object arrow_stream(ArrowColumns columns);

}  // namespace headway::python

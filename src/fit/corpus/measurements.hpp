// The measurements that the cost models are fitted to and judged by.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway {

/// A file of measurements.
struct MeasurementFile {
  std::string path;  // as problems show it
  std::string text;
};

/// The file `name` ("training.csv") of `data`/measurements; of those that the binary carries where
/// `data` is empty.
Result<MeasurementFile> read_measurements(const std::string& data, std::string_view name);

}  // namespace headway

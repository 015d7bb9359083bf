// Errors of measured calls gathered into the lines of a table. Internal to fit/collectives.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fit/collectives/collectives.hpp"

namespace headway::detail {

/// By name, operation and class of size; the lines come out sorted by these.
class Gathered {
 public:
  void add(const std::string& name, const CollectiveMeasurement& row, double error) {
    errors_[{name, row.op, size_range_of(row.bytes)}].push_back(error);
  }

  std::vector<CollectiveErrorLine> lines() const {
    std::vector<CollectiveErrorLine> out;
    for (const auto& [key, errors] : errors_) {
      const auto& [name, op, size] = key;
      out.push_back({name, std::string(to_name(op)), size, summarise(errors), {}});
    }
    return out;
  }

 private:
  std::map<std::tuple<std::string, CollectiveOp, SizeRange>, std::vector<double>> errors_;
};

}  // namespace headway::detail

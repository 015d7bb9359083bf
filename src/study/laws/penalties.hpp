// What methods that communicate less cost in loss, where somebody measured it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway {

/// A measured loss beside that of synchronous training on as many tokens.
struct MeasuredPenalty {
  std::string method;
  double sync_every = 0, replicas = 0, parameters = 0;
  double loss = 0, baseline = 0;
  std::string source;
  double factor() const { return loss / baseline; }
};

/// data/measurements/low_communication.csv.
Result<std::vector<MeasuredPenalty>> measured_penalties();

/// Loss over that of synchronous training, and where it is from; or why there is none.
struct Penalty {
  std::optional<double> factor;
  std::string from;
};

/// Between published points, linear in the logarithms of parameters, replicas and steps between
/// meetings [LAW-6]; nothing outside of them, and what is published.
Penalty published_penalty(const std::vector<MeasuredPenalty>& published, std::string_view method,
                          double sync_every, double replicas, double parameters);

}  // namespace headway

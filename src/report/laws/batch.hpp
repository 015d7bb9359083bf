// scale batch and calibrate --steps: laws of batches, as text and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "method/sparsity.hpp"
#include "study/laws/steps_law.hpp"
#include "study/laws/time_to_target.hpp"

namespace headway {

/// A batch by one law.
struct BatchRow {
  double batch = 0, progress = 0, steps = 0;
  BatchRegime regime = BatchRegime::perfect;
  std::optional<Seconds> time;  // where a throughput was given
  bool outside = false;         // of the points that the law was fitted to
};

struct BatchAnswer {
  std::vector<StepsLaw> laws;
  std::vector<std::string> without;  // names whose points make no law, and why
  std::vector<BatchRow> batches;     // of the first law, where it is the only one
  SparsityFactors factors;
  std::optional<Sparsity> sparsity;
  std::vector<TimedTarget> targets;
};

std::string batch_text(const BatchAnswer& answer);
std::string batch_json(const BatchAnswer& answer);

}  // namespace headway

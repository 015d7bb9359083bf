// What `simulate RUN` is told of its ranks, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "run/run.hpp"
#include "simulate/ranks/failures.hpp"
#include "simulate/ranks/perturbations.hpp"

namespace headway {

/// The one table of its options.
std::span<const RunField> ranks_fields();

struct RanksQuestion {
  bool every_rank = false;  // asked for, or something differs
  Perturbations differ;
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  bool what_if = false;
  std::optional<Failures> failures;
};

/// What was asked of the run, or everything that is wrong with it.
Result<RanksQuestion> read_ranks(const RunRequest& request, const Run& run);

}  // namespace headway

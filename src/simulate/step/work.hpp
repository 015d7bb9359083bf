// What the ranks of a run do in a step, before any of it has a place. Internal to src/simulate.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "simulate/step/slots.hpp"

namespace headway {

struct PipelineWork {
  Pipeline pipeline;            // of one stage where there is none
  std::vector<RankWork> ranks;  // of the pipeline
  SlotRules rules;
};

PricedStep priced_step(const Step& step, const Prices& prices);
PipelineWork work_of_step(const Run& run, const PricedStep& priced);

/// The `at`-th of what rank `r` of a pipeline does behind its slots is a call across stages: which
/// of those of another rank is the same call, where that takes part in it.
std::optional<std::size_t> same_call(const std::vector<RankWork>& ranks, std::size_t r,
                                     std::size_t at, std::size_t other);

}  // namespace headway

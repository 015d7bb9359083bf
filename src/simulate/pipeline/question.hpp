// What `simulate pipeline` is asked: a schedule and the times of its stages.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/document/csv.hpp"
#include "run/run.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace headway {

/// What the command takes.
std::span<const RunField> simulate_pipeline_fields();

/// The times of each stage, a table with columns stage, forward, backward, weight, instead of the
/// fields of those names; nothing: they are given; or what was wrong with its file.
using StagesTable = Result<std::optional<Csv>>;

/// What was asked for, or everything that is wrong with it.
Result<PipelineQuestion> read_pipeline(const RunRequest& request,
                                       const StagesTable& stages = std::optional<Csv>());

}  // namespace headway

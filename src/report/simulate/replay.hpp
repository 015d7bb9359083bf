// simulate replay: measured pipelines run again.
#pragma once

#include <string>

#include "report/json/writer.hpp"
#include "simulate/replay/replay.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string replay_text(const Replay& replay);
/// {pipelines: [{step, dp_rank, span_s}], slowdown, slowdown_without_stage[],
/// slowdown_without_worker[], ...}.
std::string replay_json(const Replay& replay);

/// Of these the slowdowns alone: tables of stages and workers; members of an open object.
std::string slowdowns_text(const Replay& replay);
void slowdowns(JsonWriter& out, const Replay& replay);

}  // namespace headway

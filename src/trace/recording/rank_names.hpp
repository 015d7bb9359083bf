// How the ranks of a recording are shown, and what the names of files tell of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// A short name for each rank: "rank 3" where the number is known and no other rank has it, else
/// the label without the folders and endings that all labels share.
std::vector<std::string> rank_names(const Recording& recording);

/// The rank that a file is named after, as profilers and recorders name those of a run:
/// "nccl_trace_rank_3", "et_rank0.json.gz".
std::optional<std::int64_t> rank_in_name(std::string_view name);

/// The ranks by number, those without one behind by label ("rank2" before "rank10").
std::vector<std::uint32_t> rank_order(const Recording& recording);

}  // namespace headway

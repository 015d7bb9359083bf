// How the ranks of a recording are shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/recording.hpp"

namespace headway {

/// A short name for each rank: "rank 3" where the number is known and no other rank has it, else
/// the label without the folders and endings that all labels share.
std::vector<std::string> rank_names(const Recording& recording);

/// The ranks by number, those without one behind by label ("rank2" before "rank10").
std::vector<std::uint32_t> rank_order(const Recording& recording);

}  // namespace headway

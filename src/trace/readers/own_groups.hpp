// Which group a call of the host's backends (gloo, MPI) is of, where the call does not name it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// The only group that the rank is in (`own`: those that its trace lists); else, of an all-gather
/// or reduce-scatter, the one of as many ranks as its buffers show, which may be one made later.
/// What one rank puts in and takes out is in bytes or in elements; negative: not said.
std::optional<std::uint32_t> own_group(Recording& recording, const std::vector<std::uint32_t>& own,
                                       Operation op, double input, double output);

/// The global rank of what a call counts within its group; as it stands where that is not known.
std::optional<std::int64_t> global_rank(const Recording& recording, const RecordedCall& call,
                                        std::optional<std::int64_t> within);

}  // namespace headway

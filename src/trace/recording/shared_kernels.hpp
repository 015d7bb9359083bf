// Calls that NCCL launched together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// How a call was launched.
struct Launch {
  std::string group;  // with which others, as the source names it; empty: alone
  /// From when to when its kernel ran on the GPU's own clock, ns, where that is known: the host
  /// sees ends late.
  std::optional<std::pair<std::int64_t, std::int64_t>> on_gpu = std::nullopt;
};

/// [TRACE-9] Calls of one group run in one kernel, each on some of its channels, and each lasts as
/// long as the kernel. Their kernels' time, which is there once, is shared among those that ran at
/// one time, by their bytes, one after another; so they add up to what the GPU was busy.
/// `launches`: one for each call; those behind the last ran alone.
void share_kernels(Recording& recording, const std::vector<Launch>& launches);

}  // namespace headway

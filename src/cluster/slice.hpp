// What a job was given of a cluster: so many accelerators of each domain of a level.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/cluster.hpp"

namespace headway {

/// Sets Level::slice as "LEVEL=N[,LEVEL=N...]" says. What is wrong with it, if anything; then the
/// cluster is as it was.
std::optional<std::string> set_slices(std::string_view text, Cluster& cluster);

/// Why a run of `total` ranks does not lie in the slices as they were stated, if it does not: each
/// domain is to hold as many.
std::optional<std::string> unfilled_slice(const Cluster& cluster, std::int64_t total);

}  // namespace headway

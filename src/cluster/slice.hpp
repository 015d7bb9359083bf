// A cluster of which a job was given so many accelerators of each domain of a level.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/cluster.hpp"

namespace headway {

/// Makes a cluster of what "LEVEL=N[,LEVEL=N...]" leaves of each domain: N of each domain of that
/// level, and of levels further out as many domains as before. Links keep the bandwidth that they
/// have when all of a domain send: the others belong to other jobs. `ranks`: of the run, which
/// fills its domains; 0: not known. What is wrong, if anything; then the cluster is as it was.
std::optional<std::string> set_slices(std::string_view text, std::int64_t ranks, Cluster& cluster);

}  // namespace headway

// Drawings of the calls of a rank.
#pragma once

#include <string>
#include <vector>

#include "study/traffic/traffic.hpp"

namespace headway {

/// Bytes on the wire by group and operation, a bar each. `of` says what run it is.
std::string plot_volume(const std::vector<TrafficCall>& calls, const std::string& of);

/// Shares of calls, bytes and time by the size of the messages, in powers of two.
std::string plot_sizes(const std::vector<TrafficCall>& calls, const std::string& of);

}  // namespace headway

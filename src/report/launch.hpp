// The configuration of a framework, as it is printed.
#pragma once

#include <string>
#include <vector>

#include "launch/launch.hpp"

namespace headway {

/// {framework, version, files: [{name, text}, ...]}.
std::string launch_json(Launcher launcher, const std::vector<LaunchFile>& files);

}  // namespace headway

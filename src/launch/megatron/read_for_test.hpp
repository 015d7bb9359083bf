// A script of Megatron as tests ask about it.
#pragma once

#include <string>

#include "launch/launch.hpp"

namespace headway {

inline Result<LaunchRequest> read(const std::string& text) {
  return read_launch(text, "train.sh", Launcher::megatron);
}

}  // namespace headway

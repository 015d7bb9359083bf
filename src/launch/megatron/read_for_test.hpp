// A script of Megatron as tests ask about it.
#pragma once

#include <string>
#include <string_view>

#include "launch/launch.hpp"

namespace headway {

inline Result<LaunchRequest> read(const std::string& text) {
  return read_launch(text, "train.sh", Launcher::megatron);
}

inline std::string field(const LaunchRequest& request, std::string_view name) {
  for (auto it = request.fields.rbegin(); it != request.fields.rend(); ++it) {
    if (it->name == name) return it->text;
  }
  return "(none)";
}

}  // namespace headway

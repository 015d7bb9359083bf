#include "cluster/precision.hpp"

namespace headway {

std::optional<Precision> precision_from(std::string_view name) {
  for (int i = 0; i < kPrecisions; ++i) {
    if (kPrecisionNames[i] == name) return static_cast<Precision>(i);
  }
  return std::nullopt;
}

}  // namespace headway

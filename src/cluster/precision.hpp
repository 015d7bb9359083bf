// Number formats.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/quantity.hpp"

namespace headway {

enum class Precision { fp32, tf32, fp16, bf16, fp8, fp4 };
constexpr int kPrecisions = 6;
constexpr std::array<std::string_view, kPrecisions> kPrecisionNames = {"fp32", "tf32", "fp16",
                                                                       "bf16", "fp8",  "fp4"};

constexpr std::string_view to_name(Precision p) {
  return kPrecisionNames[static_cast<int>(p)];
}
std::optional<Precision> precision_from(std::string_view name);

/// Bytes one element takes in memory (tf32 is stored as fp32).
constexpr double bytes_per_element(Precision p) {
  constexpr double sizes[] = {4, 4, 2, 2, 1, 0.5};
  return sizes[static_cast<int>(p)];
}

}  // namespace headway

// Number formats of messages. Wider than Precision: messages also carry integers and flags.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headway {

enum class ElementType : std::uint8_t {
  int8,
  uint8,
  int16,
  int32,
  uint32,
  int64,
  uint64,
  fp16,
  bf16,
  fp32,
  fp64,
  fp8_e4m3,
  fp8_e5m2,
  boolean,
};
constexpr std::array<std::string_view, 14> kElementTypeNames = {
    "int8", "uint8", "int16", "int32", "uint32",   "int64",    "uint64",
    "fp16", "bf16",  "fp32",  "fp64",  "fp8_e4m3", "fp8_e5m2", "bool"};
constexpr std::string_view to_name(ElementType type) {
  return kElementTypeNames[static_cast<std::size_t>(type)];
}
constexpr double bytes_per_element(ElementType type) {
  constexpr double sizes[] = {1, 1, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1, 1};
  return sizes[static_cast<std::size_t>(type)];
}

/// The type a name stands for in any dialect: PyTorch ("Float", "BFloat16", "long int",
/// "c10::Half", "Tensor(float)"), NCCL ("ncclFloat32"), nccl-tests ("half"); nothing for others.
std::optional<ElementType> element_type_from(std::string_view name);

/// ncclDataType_t as a number, as NCCL_DEBUG prints it.
std::optional<ElementType> element_type_from_nccl(std::int64_t number);

}  // namespace headway

#include "trace/recording/element_type.hpp"

#include <iterator>
#include <string>
#include <utility>

namespace headway {
namespace {

constexpr std::pair<std::string_view, ElementType> kNames[] = {
    {"float", ElementType::fp32},
    {"float32", ElementType::fp32},
    {"fp32", ElementType::fp32},
    {"double", ElementType::fp64},
    {"float64", ElementType::fp64},
    {"half", ElementType::fp16},
    {"float16", ElementType::fp16},
    {"fp16", ElementType::fp16},
    {"bfloat16", ElementType::bf16},
    {"bf16", ElementType::bf16},
    {"long", ElementType::int64},
    {"long int", ElementType::int64},
    {"int64", ElementType::int64},
    {"uint64", ElementType::uint64},
    {"unsigned long", ElementType::uint64},
    {"int", ElementType::int32},
    {"int32", ElementType::int32},
    {"uint32", ElementType::uint32},
    {"unsigned int", ElementType::uint32},
    {"short", ElementType::int16},
    {"short int", ElementType::int16},
    {"int16", ElementType::int16},
    {"char", ElementType::int8},
    {"signed char", ElementType::int8},
    {"int8", ElementType::int8},
    {"byte", ElementType::uint8},
    {"unsigned char", ElementType::uint8},
    {"uint8", ElementType::uint8},
    {"bool", ElementType::boolean},
    {"float8_e4m3fn", ElementType::fp8_e4m3},
    {"float8_e4m3fnuz", ElementType::fp8_e4m3},
    {"float8e4m3", ElementType::fp8_e4m3},
    {"f8e4m3", ElementType::fp8_e4m3},
    {"fp8_e4m3", ElementType::fp8_e4m3},
    {"float8_e5m2", ElementType::fp8_e5m2},
    {"float8_e5m2fnuz", ElementType::fp8_e5m2},
    {"float8e5m2", ElementType::fp8_e5m2},
    {"f8e5m2", ElementType::fp8_e5m2},
    {"fp8_e5m2", ElementType::fp8_e5m2},
};

}  // namespace

std::optional<ElementType> element_type_from(std::string_view name) {
  if (name.size() > 100) return std::nullopt;
  // What encloses the name goes: "GenericList[Tensor(float)]", "c10::Half", "ncclFloat32".
  if (const auto tensor = name.rfind("Tensor("); tensor != std::string_view::npos) {
    name.remove_prefix(tensor + 7);
    name = name.substr(0, name.find(')'));
  }
  for (const std::string_view prefix : {"c10::", "torch.", "nccl"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  std::string text(name);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const auto& [known, type] : kNames) {
    if (text == known) return type;
  }
  return std::nullopt;
}

std::optional<ElementType> element_type_from_nccl(std::int64_t number) {
  constexpr ElementType types[] = {
      ElementType::int8,  ElementType::uint8,  ElementType::int32,    ElementType::uint32,
      ElementType::int64, ElementType::uint64, ElementType::fp16,     ElementType::fp32,
      ElementType::fp64,  ElementType::bf16,   ElementType::fp8_e4m3, ElementType::fp8_e5m2};
  if (number < 0 || number >= static_cast<std::int64_t>(std::size(types))) return std::nullopt;
  return types[number];
}

}  // namespace headway

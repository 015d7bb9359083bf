#include "layout/job.hpp"

namespace headway {
namespace {

constexpr Recipe kRecipes[] = {
    // name, matmul, activation, saved input B, cast B an element, master weights
    {"fp32", Precision::fp32, Precision::fp32, 4, 0, false},
    {"tf32", Precision::tf32, Precision::fp32, 4, 0, false},
    {"fp16", Precision::fp16, Precision::fp16, 2, 0, true},
    {"bf16", Precision::bf16, Precision::bf16, 2, 0, true},
    // Casting an input reads 2 B and writes 1 B, and its transpose for the weight gradient 1 B
    // more.
    {"fp8", Precision::fp8, Precision::bf16, 1, 4, true},
    {"fp8-current", Precision::fp8, Precision::bf16, 1, 6, true},  // and reads 2 B for the maximum
    {"fp8-block", Precision::fp8, Precision::bf16, 1, 4.1, true,
     true},  // and writes a scale a block
    {"mxfp8", Precision::fp8, Precision::bf16, 1.03, 4.1, true, true,
     true},  // a scale for 32 elements
    {"fp4", Precision::fp4, Precision::bf16, 1, 4, true, true, true},
};

}  // namespace

std::span<const Recipe> recipes() {
  return kRecipes;
}

const Recipe* recipe_from(std::string_view name) {
  for (const Recipe& recipe : kRecipes) {
    if (recipe.name == name) return &recipe;
  }
  return nullptr;
}

}  // namespace headway

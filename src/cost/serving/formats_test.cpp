#include "cost/serving/formats.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"

namespace headway {
namespace {

struct OnAccelerator {
  Accelerator accelerator;
  KernelParameters parameters;
  FormatKernels kernels;

  double time(const char* format, const Matmul& shape) const {
    return unpacked_product_time(shape, *weight_format(format), accelerator, parameters, kernels)
        .value();
  }
};

OnAccelerator on(const char* name) {
  const Accelerator accelerator = *load_accelerator(name);
  return {accelerator, *kernel_parameters_for(accelerator), *format_kernels_for(accelerator)};
}

// Facts §9: 0.53 to 0.56 bytes a weight with scales; NVFP4 4 bits and 8 for each 16 are 0.5625.
TEST(WeightFormats, TakeTheirScalesAlong) {
  EXPECT_NEAR(weight_format("nvfp4")->bytes(), 0.5625, 1e-12);
  EXPECT_NEAR(weight_format("mxfp4")->bytes(), 0.53125, 1e-12);
  EXPECT_NEAR(weight_format("int4")->bytes(), 0.5 + 20.0 / 8 / 128, 1e-12);
  EXPECT_NEAR(weight_format("int8")->bytes(), 1, 1e-12);
  EXPECT_EQ(weight_format("int5"), nullptr);
}

// [INFER-20] Measured on A100 (aiconfigurator@095f58a, TensorRT-LLM 1.0), microseconds.
TEST(UnpackedProducts, AreAsMeasuredOnA100) {
  const OnAccelerator a100 = on("a100-80gb");
  const struct {
    const char* format;
    Matmul shape;
    double measured;
  } rows[] = {
      {"int8", {8192, 12288, 4096}, 3157},      {"int8", {16, 12288, 4096}, 40.96},
      {"int8", {256, 7168, 16384}, 272.38},     {"int4", {8192, 12288, 4096}, 3235.8},
      {"int4", {16, 12288, 4096}, 30.72},       {"int4", {16, 7168, 16384}, 65.536},
      {"int8-full", {8192, 12288, 4096}, 1590}, {"int8-full", {64, 12288, 4096}, 41.98},
  };
  for (const auto& row : rows) {
    EXPECT_NEAR(a100.time(row.format, row.shape) * 1e6 / row.measured, 1, 0.2)
        << row.format << " " << row.shape.m << " " << row.shape.n;
  }
}

// [INFER-20] By hand: one row by 8,192 x 8,192 weights of 0.52 bytes, 34.9 MB at 2,039 GB/s.
TEST(UnpackedProducts, OfOneRowTakeWhatTheirWeightsTakeToRead) {
  const OnAccelerator a100 = on("a100-80gb");
  const UnpackedProducts& dense = a100.kernels.products.at("dense");
  const double bytes = 8192.0 * 8192 * (0.5 + 20.0 / 8 / 128) + 4 * 8192;
  const double expected =
      dense.start.value() + 8192 * dense.depth.value() + bytes / (2039e9 * dense.memory);
  EXPECT_NEAR(a100.time("int4", {1, 8192, 8192}), expected, 1e-9);
}

// Facts §9: weight-only formats gain where weights are read and lose where products bind.
TEST(UnpackedProducts, GainWithFewRowsAndNotWithMany) {
  for (const char* name : {"a100-80gb", "h100-sxm", "b200"}) {
    const OnAccelerator machine = on(name);
    const auto wide = [&](std::int64_t rows) {
      return matmul_time({rows, 28672, 8192}, Precision::bf16, machine.accelerator,
                         machine.parameters)
          .value();
    };
    EXPECT_LT(machine.time("int4", {1, 28672, 8192}), 0.6 * wide(1)) << name;
    EXPECT_GT(machine.time("int4", {8192, 28672, 8192}), 0.85 * wide(8192)) << name;
  }
}

RC_GTEST_PROP(UnpackedProducts, TakeLongerForMoreOfAnything, ()) {
  static const OnAccelerator machine = on("h100-sxm");
  const auto size = [](int most) { return std::int64_t{8} * *rc::gen::inRange(1, most); };
  const Matmul shape{*rc::gen::inRange(1, 5000), size(2000), size(2000), *rc::gen::inRange(2, 200)};
  const char* format = *rc::gen::element("int8", "int4", "mxfp4", "nvfp4", "int8-full");
  const double time = machine.time(format, shape);
  RC_ASSERT(time > 0);
  Matmul more = shape;
  more.batch *= 2;
  RC_ASSERT(machine.time(format, more) >= time);
  more = shape;
  more.k *= 2;
  RC_ASSERT(machine.time(format, more) >= time);
}

TEST(FormatKernels, KnowIntegersWhereTheDataSheetStatesThem) {
  EXPECT_NEAR(on("a100-80gb").kernels.integer_rate.value(), 624e12, 1);
  EXPECT_EQ(format_kernels_for(*load_accelerator("v100-32gb"))->integer_rate.value(), 0);
}

}  // namespace
}  // namespace headway

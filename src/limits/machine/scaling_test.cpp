#include "limits/machine/scaling.hpp"

#include <gtest/gtest.h>

#include "limits/golden_for_test.hpp"

namespace headway::limits {
namespace {

TEST(LimitsScaling, LIMIT_4_rounds_to_the_nearest_of_1_3_5_7_9_times_a_power_of_two) {
  // [LIMIT-4] Every element found by walking the whole grid.
  for (double value = 0.3; value < 1e6; value *= 1.037) {
    double best = 1;
    for (const double factor : {1.0, 3.0, 5.0, 7.0, 9.0}) {
      for (double element = factor; element < 1e8; element *= 2) {
        if (std::abs(element - value) < std::abs(best - value)) best = element;
      }
    }
    EXPECT_EQ(static_cast<double>(nearest_on_grid(value)), best) << value;
  }
  EXPECT_EQ(nearest_on_grid(11), 10);  // 10 and 12 are equally near: the smaller
  EXPECT_EQ(nearest_on_grid(13), 12);  // 12 and 14
  EXPECT_EQ(nearest_on_grid(0), 1);
}

// d_model, layers, experts, parameters, training FLOP, sequences of the critical batch, of
// DeepSeek's: the reference program at ten widths.
struct Row {
  std::int64_t d_model, layers, experts;
  double parameters, training;
  std::int64_t critical, deepseek;
};
constexpr Row kRows[] = {
    {12288, 192, 1, 231928233984.0, 6.454884686272446e+24, 3584, 18432},
    {12288, 192, 8, 1855425871872.0, 5.163907749017957e+25, 14336, 98304},
    {16384, 256, 1, 549755813888.0, 3.6267774588438875e+25, 4608, 32768},
    {16384, 256, 10, 5497558138880.0, 3.6267774588438875e+26, 20480, 204800},
    {20480, 288, 1, 966367641600.0, 1.1206397024778553e+26, 5120, 49152},
    {20480, 288, 14, 13529146982400.0, 1.5688955834689974e+27, 32256, 401408},
    {32768, 384, 1, 3298534883328.0, 1.3056398851837995e+27, 8192, 98304},
    {32768, 384, 20, 65970697666560.0, 2.611279770367599e+28, 61440, 1310720},
    {65536, 640, 1, 21990232555520.0, 5.80284393415022e+28, 16384, 393216},
    {65536, 640, 40, 879609302220800.0, 2.321137573660088e+30, 184320, 7864320},
    {98304, 896, 1, 69269232549888.0, 5.757871893660556e+29, 24576, 786432},
    {98304, 896, 64, 4433230883192832.0, 3.6850380119427557e+31, 393216, 25165824},
    {131072, 1152, 1, 158329674399744.0, 3.008194295463474e+30, 28672, 1310720},
    {131072, 1152, 80, 1.266637395197952e+16, 2.4065554363707793e+32, 573440, 52428800},
    {196608, 1536, 1, 474989023199232.0, 2.7073748659171267e+31, 40960, 2621440},
    {196608, 1536, 128, 6.07985949695017e+16, 3.465439828373922e+33, 1048576, 150994944},
    {262144, 2048, 1, 1125899906842624.0, 1.5211807202738753e+32, 57344, 4718592},
    {262144, 2048, 160, 1.8014398509481984e+17, 2.4338891524382005e+34, 1638400, 335544320},
    {1572864, 7168, 1, 1.4186338826217062e+17, 2.4150265115068044e+36, 294912, 117440512},
    {1572864, 7168, 1024, 1.4526810958046272e+20, 2.4729871477829677e+39, 29360128, 34359738368},
};

TEST(LimitsScaling, LIMIT_5_LIMIT_6_LIMIT_7_match_the_reference_program) {
  // [LIMIT-5] [LIMIT-6] [LIMIT-7]
  Setting setting;
  for (const Row& row : kRows) {
    setting.sparsity.sparse = row.experts > 1;
    setting.batch = BatchLaw();
    const Shape shape = shape_of(setting, row.d_model);
    EXPECT_EQ(shape.layers, row.layers);
    EXPECT_EQ(shape.experts, row.experts);
    EXPECT_LT(apart(shape.parameters, row.parameters), 1e-12);
    EXPECT_LT(apart(shape.training.value(), row.training), 1e-12);
    EXPECT_EQ(shape.batch_sequences, row.critical);
    EXPECT_EQ(shape.batch_tokens, 2048 * row.critical);
    setting.batch = {.tokens = 0.2920, .flop = 1, .exponent = 0.3271};
    EXPECT_EQ(shape_of(setting, row.d_model).batch_sequences, row.deepseek);
    setting.batch = {.constant = true};
    EXPECT_EQ(shape_of(setting, row.d_model).batch_sequences, 2048);
  }
}

TEST(LimitsScaling, LIMIT_6_training_is_120_N_squared_over_S) {
  // [LIMIT-6] 6 (N/S) D with D = 20 N.
  Setting setting;
  setting.sparsity.sparse = true;
  const Shape shape = shape_of(setting, 40960);
  EXPECT_DOUBLE_EQ(shape.training.value(),
                   120 * shape.parameters * shape.parameters / static_cast<double>(shape.experts));
}

TEST(LimitsScaling, widths_ascend_from_the_first_to_the_last) {
  const std::vector<std::int64_t> all = widths(Setting());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(all.front(), 12288);
  EXPECT_EQ(all.back(), 1572864);
  EXPECT_EQ(all[1], 14336);
  EXPECT_EQ(all.size(), 55u);  // the rows of the curve that never ends
}

}  // namespace
}  // namespace headway::limits

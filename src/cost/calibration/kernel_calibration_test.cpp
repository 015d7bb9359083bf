#include <gtest/gtest.h>

#include "cost/calibration/calibration.hpp"
#include "cost/calibration/kernel_entries.hpp"
#include "cost/kernels/machine_for_test.hpp"

namespace headway {
namespace {

TEST(KernelCalibration, EntriesAreFoundByNameThenArchitectureThenFamily) {
  const auto document = parse_toml(
      "[default]\nmemory_efficiency = 0.1\n[ampere]\nfrom = 'default'\nmemory_efficiency = 0.2\n"
      "[a40]\nfrom = 'ampere'\nsustained = 0.7\n[tpu]\nmemory_efficiency = 0.4\n",
      "t.toml");
  ASSERT_TRUE(document.ok());
  const auto efficiency = [&](std::string name, std::string architecture) {
    Accelerator a = machine();
    a.name = std::move(name);
    a.architecture = std::move(architecture);
    return kernel_parameters_from(*document, nullptr, a)->memory_efficiency;
  };
  EXPECT_EQ(efficiency("a100", "ampere"), 0.2);
  EXPECT_EQ(efficiency("a40", "ampere"), 0.2) << "borrowed from ampere";
  EXPECT_EQ(efficiency("x", "tpu-v5p"), 0.4);
  EXPECT_EQ(efficiency("x", "unheard-of"), 0.1);
}

TEST(KernelCalibration, FittedFieldsOverlayEstimatesAndReachThoseThatBorrow) {
  const auto estimated = parse_toml(
      "[default]\n[ampere]\nfrom='default'\n[ampere.products_8_bit]\nloop_prologue=5\n[a40]\n"
      "from='ampere'\n",
      "e.toml");
  const auto fitted = parse_toml("[ampere.products_8_bit]\nceiling = 0.33\n", "f.toml");
  Accelerator a40 = machine();
  a40.name = "a40";
  const auto parameters = kernel_parameters_from(*estimated, &*fitted, a40);
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(parameters->of(ProductFormat::bits_8).ceiling, 0.33);
  EXPECT_EQ(parameters->of(ProductFormat::bits_8).loop_prologue, 5);
}

TEST(KernelCalibration, AllThatIsWrongIsReportedAtOnce) {
  const auto document = parse_toml(
      "[default]\nwave_lost = 0.1\nshortest_kernel = 2\n[default.products_4_bit]\nceiling = 1.2\n"
      "[default.flash_forward]\ntail = -1\n",
      "t.toml");
  const auto parameters = kernel_parameters_from(*document, nullptr, machine());
  ASSERT_FALSE(parameters.ok());
  EXPECT_EQ(parameters.problems().size(), 4u);
  const auto circle = parse_toml("[default]\nfrom = 'default'\n", "t.toml");
  EXPECT_FALSE(kernel_parameters_from(*circle, nullptr, machine()).ok());
}

TEST(KernelCalibration, TheEmbeddedFilesHoldForEveryArchitectureAndSayWhereFrom) {
  for (const char* architecture :
       {"volta", "turing", "ampere", "ada", "hopper", "blackwell", "cdna2", "cdna3", "cdna4", "tpu",
        "gaudi", "trainium", "unknown"}) {
    Accelerator a = machine();
    a.architecture = architecture;
    const auto parameters = kernel_parameters_for(a);
    ASSERT_TRUE(parameters.ok()) << architecture << ": " << where_text(parameters.problems()[0])
                                 << ' ' << parameters.problems()[0].message;
    // fp8 makes a large product 1.6 to 1.9 times as fast at twice the peak.
    const Matmul large{8192, 8192, 8192};
    const double gain = matmul_time(large, Precision::bf16, a, *parameters) /
                        matmul_time(large, Precision::fp8, a, *parameters);
    EXPECT_GT(gain, 1.6) << architecture;
    EXPECT_LT(gain, 1.9) << architecture;
  }
  const auto entries = estimated_kernel_entries();
  ASSERT_TRUE(entries.ok());
  for (const auto& [name, entry] : *entries->root.table()) {
    for (const char* field : {"kind", "source", "date"}) {
      EXPECT_NE(entry.find(field), nullptr) << name << " lacks " << field;
    }
  }
}

}  // namespace
}  // namespace headway

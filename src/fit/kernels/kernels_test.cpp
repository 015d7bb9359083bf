#include "fit/kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "fit/kernels/errors.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

const std::string kFile = source_dir() + "/data/measurements/kernels.csv";
const std::string kHeader =
    "use,accelerator,precision,kernel,batch,m,n,k,heads,kv_heads,head_dim,value_dim,result_bytes,"
    "scaling,quantised_bytes,time_us,source\n";

TEST(ErrorSummary, QuantilesOfTheError) {
  // Errors -0.5, 0, 0.1, 0.2, 1.
  const ErrorSummary errors = errors_of({1.2, 1, 2, 0.5, 1.1});
  EXPECT_EQ(errors.rows, 5u);
  EXPECT_NEAR(errors.bias, 0.1, 1e-12);
  EXPECT_NEAR(errors.median, 0.2, 1e-12);
  EXPECT_NEAR(errors.p90, 0.8, 1e-12);  // between 0.5 and 1, at 0.6 of the way
}

TEST(KernelData, ReadsShapesAndCountsWhatIsLeftOut) {
  const auto data = parse_kernel_data(
      kHeader +
          "fit,a100-80gb,bf16,grouped_matmul,40,616,3072,5120,,,,,8,,,3933.1,github:a/b@1f:c\n"
          "check: small,a100-80gb,fp16,matmul,1,8,4096,4096,,,,,2,,,20,github:a/b@1f:c\n"
          "fit,b200,bf16,attention_forward,1,4096,,,16,2,192,128,,,,105,github:a/b@1f:d\n"
          "no: a reason,,,,,,,,,,,,,,,,github:a/b@1f:c\n",
      "t.csv");
  ASSERT_TRUE(data.ok());
  ASSERT_EQ(data->rows.size(), 3u);
  EXPECT_EQ(data->rows[0].product.batch, 40);
  EXPECT_EQ(data->rows[0].source, "a/b");
  EXPECT_EQ(data->rows[0].result_bytes, 8);
  EXPECT_FALSE(data->rows[1].fitted);
  EXPECT_EQ(data->rows[2].attention.keys, 4096);
  EXPECT_EQ(data->rows[2].attention.value_dim, 128);
  EXPECT_EQ(data->accelerators.size(), 2u);
  ASSERT_EQ(data->skipped.size(), 1u);
  EXPECT_EQ(data->skipped[0].reason, "a reason");
}

TEST(KernelData, EveryWrongCellIsAProblemWithItsLine) {
  const auto data = parse_kernel_data(
      kHeader + "fit,a1000,bf17,matmul,0,616,3072,x,,,,,8,,,-1,s\nmaybe,,,,,,,,,,,,,,,,s\n",
      "t.csv");
  ASSERT_FALSE(data.ok());
  EXPECT_EQ(data.problems().size(), 6u);
  EXPECT_EQ(where_text(data.problems()[0]), "t.csv:2");
  EXPECT_EQ(where_text(data.problems().back()), "t.csv:3");
  EXPECT_FALSE(parse_kernel_data("use,m\n", "t.csv").ok()) << "columns are missing";
}

// A full mask of twice the triangle, by the third algorithm in place of the second.
TEST(KernelData, AttentionHasTheMaskAndTheAlgorithmThatItsRowNames) {
  const std::string row =
      "check: later,h100-sxm,bf16,attention_forward,1,8192,,,16,16,128,128,,,,100,s";
  const auto data = parse_kernel_data("operation,layout," + kHeader + "flash2,causal," + row +
                                          "\nflash2,full," + row + "\ncudnn,full," + row + "\n",
                                      "t.csv");
  ASSERT_TRUE(data.ok());
  const Accelerator& h100 = data->accelerators[0];
  const KernelParameters parameters = *kernel_parameters_for(h100);
  std::vector<double> us;
  for (const KernelMeasurement& one : data->rows) {
    us.push_back(predicted_time(one, h100, parameters).value() * 1e6);
  }
  EXPECT_NEAR(us[1] / us[0], 2, 0.2);  // half a block more, and the longest one's tail
  EXPECT_NEAR(us[1] / us[2],
              parameters.flash_forward.ceiling[2] / parameters.flash_forward.ceiling[1], 0.01);
}

// The fit finds again the constants that made the data.
TEST(KernelFit, RecoversTheConstantsOfSyntheticRowsAndIsReproducible) {
  const auto real = read_file(kFile);
  ASSERT_TRUE(real.ok());
  const auto data = parse_kernel_data(*real, kFile);
  ASSERT_TRUE(data.ok());
  KernelParameters truth;
  ProductParameters& products = truth.of(ProductFormat::bits_16);
  products.ceiling = 0.62;
  products.loop_prologue = 150;
  products.wave_loss = 0.5;
  products.loop_step = Seconds(1e-9);
  truth.memory_efficiency = 0.9;  // hopper's, which is not fitted
  truth.matmul_start = Seconds(3e-6);
  truth.tile_efficiency = {1, 1, 0.9, 0.8, 0.6};
  std::string text = kHeader;
  for (const KernelMeasurement& row : data->rows) {
    const Accelerator& accelerator = data->accelerators[row.accelerator];
    if (accelerator.name != "h100-sxm" || !row.fitted || row.source != "microsoft/vidur") continue;
    const Seconds time = predicted_time(row, accelerator, truth);
    const Matmul& x = row.product;
    text += "fit,h100-sxm,bf16,matmul,1," + std::to_string(x.m) + "," + std::to_string(x.n) + "," +
            std::to_string(x.k) + ",,,,,2,,," + std::to_string(time.value() * 1e6) + ",synthetic\n";
  }
  const auto fit = fit_kernels(text, "synthetic.csv");
  ASSERT_TRUE(fit.ok());
  ASSERT_EQ(fit->entries.size(), 1u);
  const KernelParameters& found = fit->entries[0].parameters;
  const ProductParameters& found_products = found.of(ProductFormat::bits_16);
  EXPECT_NEAR(found_products.ceiling, 0.62, 0.01);
  EXPECT_NEAR(found_products.loop_prologue, 150, 30);
  EXPECT_NEAR(found_products.wave_loss, 0.5, 0.1);
  EXPECT_LT(fit->entries[0].errors[0].p90, 0.02);
  const auto again = fit_kernels(text, "synthetic.csv");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(to_toml(*fit, "2026-11-21"), to_toml(*again, "2026-11-21"));
  EXPECT_EQ(to_text(fit->report), to_text(again->report));
}

// The constants of 8-bit and 4-bit products are found beside what their quantisation adds.
TEST(KernelFit, TellsAProductFromItsQuantisation) {
  const auto real = read_file(kFile);
  ASSERT_TRUE(real.ok());
  const auto data = parse_kernel_data(*real, kFile);
  ASSERT_TRUE(data.ok());
  KernelParameters truth;
  truth.memory_efficiency = 0.9;
  truth.matmul_start = Seconds(3e-6);
  truth.tile_efficiency = {1, 1, 0.9, 0.8, 0.6};
  ProductParameters& products = truth.of(ProductFormat::bits_4);
  products = {0.55, 300, 0.6, 0.2, Seconds(1.5e-9), 1, Seconds(6e-6)};
  truth.of(ProductFormat::bits_16) = {0.7, 100, 0.3, 0.2, Seconds(1e-9), 1, Seconds(0)};
  std::string text = kHeader;
  for (const KernelMeasurement& row : data->rows) {
    const Accelerator& accelerator = data->accelerators[row.accelerator];
    if (accelerator.name != "b200" || !row.fitted || !is_matmul(row.kernel)) continue;
    if (row.precision != Precision::fp4 && row.precision != Precision::bf16) continue;
    const bool small = row.precision == Precision::fp4;
    const Matmul& x = row.product;
    text += "fit,b200," + std::string(to_name(row.precision)) + ",matmul,1," + std::to_string(x.m) +
            "," + std::to_string(x.n) + "," + std::to_string(x.k) + ",,,,,2," +
            (small ? "blocks,2.5625," : ",,") +
            std::to_string(predicted_time(row, accelerator, truth).value() * 1e6) + ",synthetic\n";
  }
  const auto fit = fit_kernels(text, "synthetic.csv");
  ASSERT_TRUE(fit.ok());
  ASSERT_EQ(fit->entries.size(), 1u);
  const ProductParameters& found = fit->entries[0].parameters.of(ProductFormat::bits_4);
  EXPECT_NEAR(found.ceiling, 0.55, 0.02);
  EXPECT_NEAR(found.loop_step.value() * 1e9, 1.5, 0.2);
  EXPECT_NEAR(found.quantisation_start.value() * 1e6, 6, 1.5);
  EXPECT_LT(fit->entries[0].errors[static_cast<std::size_t>(KernelClass::matmul_4_bit)].p90, 0.02);
}

// What quantises stays as it was estimated where no row was timed with it.
TEST(KernelFit, OfProductsAloneLeavesTheirQuantisation) {
  const auto real = read_file(kFile);
  ASSERT_TRUE(real.ok());
  const auto fit = fit_kernels(*real, kFile);
  ASSERT_TRUE(fit.ok());
  for (const FittedKernels& entry : fit->entries) {
    if (!entry.entry.starts_with("cdna")) continue;
    const auto start = kernel_parameters_from(*estimated_kernel_entries(), nullptr,
                                              *load_accelerator(entry.accelerators[0]));
    const auto format =
        entry.entry == "cdna3" ? ProductFormat::bits_8_blocks : ProductFormat::bits_4;
    const ProductParameters& found = entry.parameters.of(format);
    EXPECT_EQ(found.quantisation_start, start->of(format).quantisation_start) << entry.entry;
    EXPECT_NE(found.ceiling, start->of(format).ceiling) << entry.entry;
  }
}

TEST(KernelFit, OfTheMeasurementsIsWhatTheRepositoryHolds) {
  const auto csv = read_file(kFile);
  ASSERT_TRUE(csv.ok());
  const auto fit = fit_kernels(*csv, kFile);
  ASSERT_TRUE(fit.ok());
  const auto written = parse_toml(to_toml(*fit, "2026-11-21"), "kernels.toml");
  ASSERT_TRUE(written.ok());
  // The embedded constants are rounded to three digits; their errors agree with the fit's.
  const auto report = kernel_report(*csv, kFile);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->lines.size(), fit->report.lines.size());
  for (std::size_t i = 0; i < report->lines.size(); ++i) {
    EXPECT_NEAR(report->lines[i].error.median, fit->report.lines[i].error.median, 0.005)
        << report->lines[i].accelerator << ' ' << report->lines[i].kernel
        << ": run `headway calibrate kernels --write`";
  }
  // Each half of the shapes by a fit to the other half.
  std::size_t small = 0;
  for (const KernelErrorLine& line : fit->report.lines) {
    if (!line.fitted || line.kernel.find("_bit") == std::string::npos) continue;
    EXPECT_LT(line.held_out.median, 0.12) << line.accelerator << ' ' << line.kernel;
    ++small;
  }
  EXPECT_EQ(small, 2u * (2 + 2 + 3 + 3 + 1 + 1))
      << "formats of H100, H200, B200, GB200, MI300X, MI355X, in two sizes";
}

TEST(KernelFit, TheEmbeddedCalibrationPredictsTheMeasuredKernels) {
  const auto csv = read_file(kFile);
  ASSERT_TRUE(csv.ok());
  const auto report = kernel_report(*csv, kFile);
  ASSERT_TRUE(report.ok());
  std::size_t seen = 0;
  for (const KernelErrorLine& line : report->lines) {
    const std::string name = line.accelerator + " " + line.kernel;
    if (!line.fitted) continue;
    if (line.kernel.ends_with(", m >= 512")) {
      EXPECT_LT(line.error.median, 0.10) << name;
      EXPECT_LT(std::abs(line.error.bias), 0.06) << name;
      EXPECT_LT(line.error.p90, 0.25) << name;
      ++seen;
    } else if (line.kernel == "grouped_matmul" || line.kernel.starts_with("attention")) {
      EXPECT_LT(line.error.median, 0.12) << name;
      EXPECT_LT(line.error.p90, 0.26) << name;
      ++seen;
    } else if (line.kernel.ends_with(", m < 512") && line.error.rows >= 20) {
      EXPECT_LT(line.error.median, 0.12) << name;
      ++seen;
    }
  }
  EXPECT_EQ(seen, 21u + 1u + 8u + 18u) << "every accelerator and format measured is checked";
}

}  // namespace
}  // namespace headway

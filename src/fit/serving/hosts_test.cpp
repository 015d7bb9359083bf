#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/document/document.hpp"
#include "base/formatted.hpp"
#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "fit/serving/host_lines.hpp"
#include "fit/serving/intervals.hpp"
#include "fit/serving/kernels.hpp"
#include "fit/serving/served_rows_for_test.hpp"
#include "study/infer/engines.hpp"

namespace headway {
namespace {

// Kernels that take what these constants say are fitted by them.
TEST(ServingKernelFit, FindsTheConstantsThatMadeItsRows) {
  const Accelerator accelerator = *load_accelerator("h100-sxm");
  const KernelParameters flash = *kernel_parameters_for(accelerator);
  ServingKernels truth;
  truth.decode = {Seconds(8e-6), 0.7, 0.25};
  truth.latent = {Seconds(15e-6), 0.6, 0.5};
  truth.prompt = {Seconds(12e-6), 2, 0.8, 0.7};
  truth.once_start = Seconds(3e-6);
  truth.once_share = 0.5;
  truth.twice_start = Seconds(9e-6);
  truth.twice_share = 0.8;
  std::vector<BenchmarkRow> rows;
  const auto add = [&](const ServingKernel& kernel, const char* op) {
    BenchmarkRow row;
    row.machine = "h100-sxm";
    row.engine = "vllm";
    row.op = op;
    row.serving = kernel;
    row.measured = time_of(kernel, accelerator, flash, truth);
    rows.push_back(row);
  };
  for (const std::int64_t sequences : {1, 8, 64}) {
    for (const std::int64_t keys : {64, 1024, 16384}) {
      for (const std::int64_t heads : {8, 64}) {
        CachedAttention shape{.sequences = sequences, .keys = keys, .heads = heads, .width = 256};
        shape.cached_of_token = Bytes(4096);
        add(shape, "attention_decode");
        shape.queries = 64;  // long enough for the products to bind
        add(shape, "attention_decode");
        shape.latent = true;
        shape.cached_of_token = Bytes(1152);
        add(shape, "mla_decode");
        shape.queries = 1;
        add(shape, "mla_decode");
      }
    }
  }
  for (const std::int64_t tokens : {128, 1024, 8192}) {
    for (const std::int64_t heads : {8, 64}) {
      for (const Precision precision : {Precision::bf16, Precision::fp8}) {
        for (const std::int64_t sequences : {1, 8}) {
          const AttentionShape shape{sequences, heads, heads, tokens, tokens, 128, 128};
          add(PromptAttention{shape, precision}, "attention_prefill_causal");
        }
      }
    }
  }
  for (double bytes = 1024; bytes < 1e9; bytes *= 2) {
    for (const std::int64_t ranks : {2, 8}) {
      add(OwnAllReduce{Bytes(bytes), ranks, BytesPerSecond(450e9)}, "all_reduce_custom");
    }
  }
  const auto fit = fit_serving_kernels(rows, /*left_out=*/false, 1);
  ASSERT_TRUE(fit);
  const ServingKernels& found = fit->entries.at("hopper");
  EXPECT_NEAR(found.decode.start.value(), 8e-6, 0.2e-6);
  EXPECT_NEAR(found.prompt.start.value(), 12e-6, 0.5e-6);
  EXPECT_NEAR(found.prompt.passes, 2, 0.2);
  EXPECT_NEAR(found.prompt.rate, 0.8, 0.02);
  EXPECT_NEAR(found.prompt.eight, 0.7, 0.02);
  EXPECT_NEAR(found.decode.memory, 0.7, 0.02);
  EXPECT_NEAR(found.decode.rate, 0.25, 0.01);
  EXPECT_NEAR(found.latent.memory, 0.6, 0.02);
  EXPECT_NEAR(found.latent.rate, 0.5, 0.02);
  EXPECT_NEAR(found.once_start.value(), 3e-6, 0.1e-6);
  EXPECT_NEAR(found.once_share, 0.5, 0.02);
  EXPECT_NEAR(found.twice_share, 0.8, 0.03);
  EXPECT_TRUE(parse_toml(to_toml(*fit, "2026-11-26"), "kernels.toml"));
}

// Batches and clients of one engine, as they take with these constants of its host.
std::vector<ServedCase> served_with(const Engine& truth, const std::string& source) {
  std::string text;
  const auto row = [&](const char* model, int batch, int length, const char* measured,
                       const char* notes) {
    text += formatted("%s-%s-%d-%d-%s,%s,x,%s,7,H100,1,1,,,,,,vllm,0.11,%d,%d,%d,,%s,,0,%s\n",
                      source.c_str(), model, batch, length, notes, source.c_str(), model, batch,
                      length, length, measured, notes);
  };
  for (const char* model : {"llama-2-7b", "llama-3.2-1b", "llama-3-8b"}) {
    for (const int batch : {1, 8, 32}) {
      for (const int length : {128, 512}) {
        row(model, batch, length, ",,1,,", "static batch");
        row(model, batch, length, "1,1,,,", "");
      }
    }
  }
  auto cases = read_serving(testing::table_of(text));
  EXPECT_TRUE(cases);
  for (ServedCase& each : cases.value()) {
    EXPECT_TRUE(each.asked) << each.row.id << each.row.skipped_reason << each.row.skipped_detail;
    Serving serving = each.asked->serving;
    serving.engine = truth;
    const ServedNumbers numbers =
        numbers_of(served(serving, *each.asked->constants, each.asked->load));
    for (std::size_t q = 0; q < numbers.size(); ++q) {
      if (each.row.measured[q]) each.row.measured[q] = numbers[q];
    }
  }
  return cases.value();
}

Engine slow_host() {
  Engine out = engines()->front();
  out.step = Seconds(2e-3);
  out.sequence = Seconds(100e-6);
  out.request = Seconds(40e-3);
  out.token = Seconds(2.5e-6);
  out.launch =
      Seconds(kLeastLaunch);  // hidden: of so short prompts no row would tell it from a way
  out.layer = {{"hopper", Seconds(30e-6)}};
  return out;
}

// Drawn a little to zero, a sequence's part most: within a tenth, that within a sixth.
TEST(HostFit, FindsTheConstantsThatMadeItsRows) {
  const Engine truth = slow_host();
  const auto fit = fit_hosts(served_with(truth, "s"), *engines(), /*left_out=*/false, 1);
  ASSERT_TRUE(fit);
  const Engine& found = fit->engines.front();
  EXPECT_EQ(found.name, "vllm");
  EXPECT_NEAR(found.sequence.value(), truth.sequence.value(), 16e-6);
  EXPECT_NEAR(found.request.value(), truth.request.value(), 4e-3);
  // Of 16 to 32 layers: what a step has for all of it.
  EXPECT_NEAR(found.step.value() + 32 * gap_of_layer(found, *load_accelerator("h100-sxm")).value(),
              truth.step.value() + 32 * 30e-6, 0.3e-3);
  for (const ServedResidual& each : fit->residuals) {
    EXPECT_NEAR(each.fitted, each.measured, 0.1 * each.measured);
  }
  // Engines without rows stay as they stood.
  EXPECT_EQ(fit->rows.size(), 1U);
  EXPECT_EQ(fit->engines.back().step, engines()->back().step);
}

TEST(HostFit, WithoutTheSourceKnowsWhatOtherSourcesMeasured) {
  std::vector<ServedCase> cases = served_with(slow_host(), "one");
  for (ServedCase& each : served_with(slow_host(), "two")) cases.push_back(std::move(each));
  const auto known = fit_hosts(cases, *engines(), /*left_out=*/true, 1);
  ASSERT_TRUE(known);
  for (const ServedResidual& each : known->residuals) {
    EXPECT_TRUE(each.source_known);
    EXPECT_NEAR(each.without_source, each.measured, 0.1 * each.measured);
  }
  // Alone, nothing of its host is known.
  const auto alone = fit_hosts(served_with(slow_host(), "one"), *engines(), true, 1);
  double ratio = 0;
  for (const ServedResidual& each : alone->residuals) {
    EXPECT_FALSE(each.source_known);
    ratio += each.without_source / each.measured / static_cast<double>(alone->residuals.size());
  }
  EXPECT_LT(ratio, 0.9);
}

// By its source's own word a row is experimental: predicted, and no constant is fitted on it.
TEST(HostFit, LeavesOutWhatItsSourceCallsExperimental) {
  const auto cases_with = [](const char* notes) {
    return *read_serving(testing::table_of(
        std::string("1,s,x,llama-3-8b,8,H100,1,1,,,,,,vllm,0.11,4,128,128,,1,1,,,,,0,") + notes +
        "\n"));
  };
  const auto plain = cases_with("mean of three runs");
  const auto experimental = cases_with("marked experimental by the source");
  ASSERT_TRUE(plain.front().asked && experimental.front().asked);
  EXPECT_EQ(fit_hosts(plain, *engines(), false, 1)->residuals.size(), 2U);
  EXPECT_FALSE(fit_hosts(experimental, *engines(), false, 1));
}

TEST(HostFit, RenewsOnlyWhatItDecides) {
  const std::vector<ServedCase> cases = served_with(slow_host(), "s");
  const auto fit = fit_hosts(cases, *engines(), false, 1);
  ASSERT_TRUE(fit);
  const std::string before =
      "[vllm]\nage = \"2025\"\nmemory = 0.9\nkind = \"estimated\"\n\n[sglang]\nmemory = 0.8\n";
  const std::string after = renewed_engines(before, *fit, cases, "2026-11-26");
  EXPECT_NE(after.find("memory = 0.9\nkind = \"fitted\""), std::string::npos) << after;
  EXPECT_NE(after.find("request = \""), std::string::npos);
  EXPECT_TRUE(after.ends_with("\n[sglang]\nmemory = 0.8\n"));
  EXPECT_TRUE(parse_toml(after, "engines.toml"));
  // Its host was another's.
  const std::string own = renewed_engines("[vllm]\nhost = \"other\"\n", *fit, cases, "2026-11-26");
  EXPECT_EQ(own.find("host = "), std::string::npos) << own;
}

// An architecture that costs nothing is said where another does: else it would be as the default.
TEST(HostFit, WritesWhatCostsNothingBesideWhatDoes) {
  const std::vector<ServedCase> cases = served_with(slow_host(), "s");
  auto fit = fit_hosts(cases, *engines(), false, 1);
  ASSERT_TRUE(fit);
  fit->engines.front().layer = {{"ampere", Seconds(20e-6)}, {"hopper", Seconds(0)}};
  const std::string after = renewed_engines("[vllm]\nage = \"2025\"\n", *fit, cases, "2026-11-26");
  EXPECT_NE(after.find("layer = { ampere = \"20 us\", hopper = \"0.01 us\" }"), std::string::npos)
      << after;
}

// Errors spread evenly from minus to plus one half in logarithms: a tenth lies beyond 0.8 of that.
TEST(ServingIntervalFit, HoldsFourOfFive) {
  std::vector<ServedCase> cases = served_with(slow_host(), "one");
  for (ServedCase& each : served_with(slow_host(), "two")) cases.push_back(std::move(each));
  HostFit fit;
  fit.left_out = true;
  fit.rows["vllm"] = cases.size();
  std::vector<std::size_t> counts(kServedQuantities.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t q = 0; q < kServedQuantities.size(); ++q) {
      if (!cases[i].row.measured[q]) continue;
      // 36 of each quantity, in steps from one end to the other, in an order that knows nothing of
      // how long a row waits.
      const double at = (static_cast<double>(counts[q]++ * 11 % 36) + 0.5) / 36 - 0.5;
      ServedResidual residual{i, q, 1, 1};
      residual.without_source = std::exp(at);
      residual.source_known = true;
      fit.residuals.push_back(residual);
    }
  }
  const ServingIntervalFit out = fit_serving_intervals(cases, fit);
  for (const HeldServing& each : out.held) {
    if (each.source != "all") continue;
    EXPECT_NEAR(each.inside, 0.8, 0.06) << each.quantity;
    EXPECT_NEAR(each.width, std::exp(0.8), 0.15) << each.quantity;
  }
  const auto read = parse_toml(to_toml(out, "2026-11-26"), "intervals.toml");
  ASSERT_TRUE(read);
  EXPECT_EQ(serving_intervals_from(*read)->entries.size(), out.intervals.entries.size());
}

}  // namespace
}  // namespace headway

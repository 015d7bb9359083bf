#include "fit/collectives/collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "platform/embedded.hpp"

namespace headway {
namespace {

const CollectiveData& measured() {
  static const CollectiveData data = [] {
    const auto loaded = load_collective_data();
    EXPECT_TRUE(loaded.ok());
    if (!loaded) {
      for (const auto& problem : loaded.problems()) {
        ADD_FAILURE() << where_text(problem) << ": " << problem.message;
      }
      return CollectiveData{};
    }
    return *loaded;
  }();
  return data;
}

NetworkClasses calibrated() {
  const auto classes = calibrated_classes(measured());
  EXPECT_TRUE(classes.ok());
  return classes.ok() ? *classes : NetworkClasses{};
}

CollectiveReport as_fitted() {
  return collective_report(measured(), collective_errors(measured(), calibrated()));
}

CollectiveData rows_of(const std::string& system) {
  CollectiveData chosen;
  chosen.clusters = measured().clusters;
  for (const auto& row : measured().rows) {
    if (row.system == system) chosen.rows.push_back(row);
  }
  return chosen;
}

// What the model says with these constants takes the place of what was measured.
void take_times_of(const NetworkClasses& truth, CollectiveData& data) {
  for (auto& row : data.rows) {
    const Cluster& cluster = data.clusters[row.cluster];
    row.time =
        collective_time(row.op, row.bytes, row.span, cluster, level_parameters(cluster, truth));
  }
}

TEST(CollectiveData, EveryRowOfTheFilesIsUsedOrLeftOutWithAReason) {
  // collectives.csv 2,864 rows, collectives_reported.csv 36, the scan 12 sizes x 8 columns.
  std::size_t skipped = 0;
  for (const auto& left_out : measured().skipped) {
    EXPECT_FALSE(left_out.reason.empty());
    skipped += left_out.rows;
  }
  EXPECT_EQ(measured().rows.size() + skipped, 2864u + 36u + 96u);
}

TEST(CollectiveData, TheScanTurnsBusBandwidthIntoTime) {
  // 8 MiB on 4 nodes of 8: 70 GB/s = 2·31/32·S/T.
  const auto data = rows_of("h100-scan");
  const auto first = std::find_if(data.rows.begin(), data.rows.end(), [](const auto& row) {
    return row.nodes == 4 && row.bytes == Bytes(8388608);
  });
  ASSERT_NE(first, data.rows.end());
  EXPECT_NEAR(first->time.value(), 2 * 31.0 / 32 * 8388608 / 70e9, 1e-12);
  EXPECT_EQ(first->span.members[0], 8);
  EXPECT_EQ(first->span.members[1], 32);
}

TEST(CollectiveCalibration, MedianErrorAbove1MiBIsUnder15PercentForEachFittedSource) {
  for (const auto& line : as_fitted().lines) {
    if (line.size == SizeRange::up_to_1mib) continue;
    // Only predicted: the one-GPU run of Alps; single rows of reports.
    if (line.name == "alps-1-gpu" || line.name == "h100-roce") continue;
    EXPECT_LT(line.error.median, 0.15) << line.name << " " << line.op << " " << to_name(line.size);
  }
}

TEST(CollectiveCalibration, MedianErrorUpTo1MiBIsUnder30PercentExceptOnAlps) {
  for (const auto& line : as_fitted().lines) {
    if (line.size != SizeRange::up_to_1mib || line.name == "alps-1-gpu") continue;
    EXPECT_LT(line.error.median, line.name == "alps" ? 0.45 : 0.30) << line.name << " " << line.op;
  }
}

TEST(CollectiveCalibration, TheEmbeddedConstantsHaveTheResidualsTheyState) {
  const auto text = embedded_file("calibration/networks.toml");
  ASSERT_TRUE(text.has_value());
  const auto document = parse_toml(*text, "networks.toml");
  ASSERT_TRUE(document.ok());
  const auto errors = collective_errors(measured(), calibrated());
  ASSERT_GE(document->root.table()->size(), 10u);
  for (const auto& [name, entry] : *document->root.table()) {
    std::vector<double> of_class;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const auto& row = measured().rows[i];
      if (row.fitted_on && outer_class(row, measured()) == name) of_class.push_back(errors[i]);
    }
    const ErrorSummary summary = summarise(of_class);
    Problems problems;
    Fields residuals = Fields(entry, "networks.toml", name, problems).table("residuals", true);
    EXPECT_EQ(static_cast<std::size_t>(residuals.count("rows")), summary.rows) << name;
    EXPECT_NEAR(residuals.number("median"), summary.median, 0.003) << name;
    EXPECT_NEAR(residuals.number("p90"), summary.p90, 0.006) << name;
    EXPECT_TRUE(problems.empty()) << name;
  }
}

TEST(CollectiveFit, FindsTheConstantsThatMadeTheTimes) {
  // Times made by the model with known constants; the fit starts elsewhere.
  CollectiveData data = rows_of("a3-mega");
  NetworkClasses truth = calibrated();
  truth["tcpxo"].bandwidth_efficiency = 0.70;
  truth["tcpxo"].ring_step = Seconds(9e-6);
  take_times_of(truth, data);
  const auto fit = fit_collectives(data, calibrated());
  ASSERT_TRUE(fit.classes.count("tcpxo"));
  EXPECT_LT(fit.classes.at("tcpxo").error.median, 0.01);
  EXPECT_NEAR(fit.classes.at("tcpxo").parameters.bandwidth_efficiency, 0.70, 0.02);
}

TEST(CollectiveFit, TellsAGapFromAStepByTheRanksOfANode) {
  // Times of a network that is held up by a gap: charged by hops, 1, 2 and 4 ranks a node disagree.
  CollectiveData data = rows_of("perlmutter");
  std::erase_if(data.rows, [](const CollectiveMeasurement& row) {
    return row.op != CollectiveOp::all_gather || (row.nodes != 4 && row.nodes != 16);
  });
  NetworkClasses truth = calibrated();
  NetworkParameters& network = truth.at("slingshot-11");
  network.ring_step = Seconds(9e-6);
  network.ring_gap = Seconds(40e-6);
  network.step_overlap = 0.1;  // else a transfer hides it
  take_times_of(truth, data);
  const auto fit = fit_collectives(data, calibrated());
  ASSERT_TRUE(fit.classes.count("slingshot-11"));
  EXPECT_LT(fit.classes.at("slingshot-11").error.median, 0.01);
  EXPECT_NEAR(fit.classes.at("slingshot-11").parameters.ring_gap.value(), 40e-6, 2e-6);
}

TEST(CollectiveFit, IsDeterministicAndKeepsWhatNoRowDecides) {
  const CollectiveData data = rows_of("a3-mega");  // all-gathers only
  const auto start = estimated_classes(data);
  ASSERT_TRUE(start.ok());
  const auto once = fit_collectives(data, *start), again = fit_collectives(data, *start);
  EXPECT_EQ(to_toml(once, "2026-11-21"), to_toml(again, "2026-11-21"));
  const auto& fitted = once.classes.at("tcpxo");
  EXPECT_EQ(fitted.parameters.tree_fill, start->at("tcpxo").tree_fill);
  EXPECT_NE(std::find(fitted.held.begin(), fitted.held.end(), "tree_fill"), fitted.held.end());
  EXPECT_EQ(once.all.at("ib-ndr").ring_hop, start->at("ib-ndr").ring_hop);
}

TEST(CollectiveFit, LeavesClassesWithFewRowsAsTheyStart) {
  const CollectiveData data = rows_of("p5en");  // 6 rows, fitted with efa-v2
  const auto start = estimated_classes(data);
  ASSERT_TRUE(start.ok());
  const auto fit = fit_collectives(data, *start);
  EXPECT_TRUE(fit.classes.empty());
  EXPECT_EQ(fit.too_few.at("efa-v2"), 6u);
}

TEST(CollectiveReport, CountsEachRowOnceAndNamesWhatIsLeftOut) {
  const auto report = as_fitted();
  std::size_t rows = 0;
  for (const auto& line : report.lines) rows += line.error.rows;
  EXPECT_EQ(rows, measured().rows.size());
  const std::string text = to_text(report);
  EXPECT_NE(text.find("perlmutter"), std::string::npos);
  EXPECT_NE(text.find("alps-tcp, 50 rows"), std::string::npos);
}

// Two systems of one network, whose times the model makes with a bandwidth each, 0.9 and 0.6 of the
// port: one predicts the other by its own constants, so that the first comes out half as slow again
// as it is and the second by a third too fast, where latency does not count.
TEST(CollectiveReport, ASystemLeftOutIsPredictedByTheOthersOfItsNetwork) {
  CollectiveData data;
  data.clusters = measured().clusters;
  for (const char* system : {"fast", "slow"}) {
    NetworkClasses truth = calibrated();
    truth.at("tcpxo").bandwidth_efficiency = system == std::string("fast") ? 0.9 : 0.6;
    CollectiveData own = rows_of("a3-mega");
    take_times_of(truth, own);
    for (auto& row : own.rows) {
      row.system = system;
      data.rows.push_back(row);
    }
  }
  const auto left_out = left_out_errors(data, 1);
  ASSERT_TRUE(left_out.ok());
  const auto report = collective_report(data, collective_errors(data, calibrated()), *left_out);
  std::map<std::string, double> bias;
  for (const auto& line : report.lines) {
    if (line.size == SizeRange::above) bias[line.name] = line.left_out.bias;
  }
  EXPECT_NEAR(bias.at("fast"), 0.9 / 0.6 - 1, 0.03);
  EXPECT_NEAR(bias.at("slow"), 0.6 / 0.9 - 1, 0.03);
  const auto& above = report.sizes.at(static_cast<std::size_t>(SizeRange::above));
  EXPECT_EQ(above.systems, 2u);
  EXPECT_EQ(above.left_out.rows.rows, data.rows.size() - report.sizes[1].error.rows.rows);
  // The median of the two systems' medians is their mean.
  EXPECT_NEAR(above.left_out.of_systems, (bias["fast"] - bias["slow"]) / 2, 0.03);
}

// A system that no other shares a network with is predicted by the estimate of the network.
TEST(CollectiveReport, ASystemAloneOnItsNetworkIsPredictedByTheEstimate) {
  const CollectiveData data = rows_of("a3-mega");
  const auto left_out = left_out_errors(data, 1);
  const auto estimates = estimated_classes(measured());
  ASSERT_TRUE(left_out.ok() && estimates.ok());
  EXPECT_EQ(*left_out, collective_errors(data, *estimates));
}

TEST(CollectiveReport, TheTablesOfThePageHoldEveryLine) {
  const CollectiveReport report = as_fitted();
  const GeneratedBlocks blocks = collective_blocks(report);
  const std::string& systems = blocks.at("collectives-systems");
  EXPECT_EQ(static_cast<std::size_t>(std::count(systems.begin(), systems.end(), '\n')),
            report.lines.size() + 2);
  EXPECT_TRUE(blocks.contains("collectives-sizes") && blocks.contains("collectives-nodes"));
}

}  // namespace
}  // namespace headway

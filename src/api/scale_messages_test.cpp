// The messages of the scaling study (Fernandez et al., arXiv 2411.13055) on shapes, beside what has
// been measured elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "fit/collectives/data.hpp"
#include "fit/corpus/forecast.hpp"
#include "fit/steps/data.hpp"
#include "platform/files.hpp"
#include "study/sweep/answer.hpp"

namespace headway {
namespace {

using FieldList = std::initializer_list<std::pair<const char*, const char*>>;

// The study's workload: Llama 2 by FSDP that keeps gathered weights, sequences of 4,096.
SweepAnswer swept(SweepAxis axis, FieldList fields) {
  RunRequest request = {
      {"model", "llama-2-7b"}, {"cluster", "dgx-h100"}, {"seq", "4096"}, {"framework", "fsdp"}};
  request.push_back({"no-reshard", "true"});  // what is gathered is kept where it fits
  for (const auto& [name, text] : fields) request.push_back({std::string(name), std::string(text)});
  auto question = read_sweep(axis, request);
  EXPECT_TRUE(question.ok());
  auto made = make_sweep(std::move(question).value(), {}, 0);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

double mfu(const SweepPoint& point) {
  return point.forecast.mfu;
}
double exposed_share(const SweepPoint& point) {
  return point.exposed / point.forecast.step_time;
}

// Share of the variance of y that a line over x explains.
double explained(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sx += x[i], sy += y[i];
    sxx += x[i] * x[i], sxy += x[i] * y[i], syy += y[i] * y[i];
  }
  const double covariance = sxy - sx * sy / n;
  return covariance * covariance / ((sxx - sx * sx / n) * (syy - sy * sy / n));
}

struct ByNodes {
  std::vector<double> nodes, doublings, seconds;
};

ByNodes predicted(CollectiveOp op, Bytes bytes) {
  const Cluster cluster = load_cluster("dgx-h100").value();
  const auto calibration = calibration_for(cluster);
  EXPECT_TRUE(calibration.ok());
  ByNodes out;
  for (std::int64_t nodes = 4; nodes <= 512; nodes *= 2) {
    out.nodes.push_back(static_cast<double>(nodes));
    out.doublings.push_back(std::log2(static_cast<double>(nodes)));
    out.seconds.push_back(collective_time(op, bytes, benchmark_span(8 * nodes, nodes, cluster),
                                          cluster, calibration->levels)
                              .value());
  }
  return out;
}

constexpr double kMiB = 1024.0 * 1024.0;

// Message 1.
TEST(StudyMessages, LatencyOfAllReduceGrowsWithTheLogarithmOfTheRanksAsMeasured) {
  const auto data = load_collective_data();
  ASSERT_TRUE(data.ok());
  for (const double size : {8 * kMiB, 16 * kMiB, 32 * kMiB}) {
    ByNodes measured;
    for (const CollectiveMeasurement& row : data->rows) {
      if (row.system != "h100-scan" || row.bytes != Bytes(size)) continue;
      measured.nodes.push_back(static_cast<double>(row.nodes));
      measured.doublings.push_back(std::log2(static_cast<double>(row.nodes)));
      measured.seconds.push_back(row.time.value());
    }
    ASSERT_EQ(measured.nodes.size(), 8U);
    const ByNodes ours = predicted(CollectiveOp::all_reduce, Bytes(size));
    for (const ByNodes& each : {measured, ours}) {
      EXPECT_GT(explained(each.doublings, each.seconds), 0.9) << size / kMiB;
      EXPECT_GT(explained(each.doublings, each.seconds), explained(each.nodes, each.seconds));
    }
    // From 4 to 512 nodes, as much longer as was measured within a quarter.
    EXPECT_NEAR(ours.seconds.back() / ours.seconds.front() /
                    (measured.seconds.back() / measured.seconds.front()),
                1, 0.25)
        << size / kMiB;
  }
}

TEST(StudyMessages, LatencyOfAllGatherAndReduceScatterGrowsWithTheRanks) {
  // All latency; and a long message, of which each link carries a piece for each rank.
  for (const double size : {kMiB / 16, 1024 * kMiB}) {
    const ByNodes all_reduce = predicted(CollectiveOp::all_reduce, Bytes(size));
    for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
      const ByNodes ours = predicted(op, Bytes(size));
      EXPECT_GT(explained(ours.nodes, ours.seconds), 0.98) << to_name(op);
      EXPECT_GT(explained(ours.nodes, ours.seconds), explained(ours.doublings, ours.seconds));
      // Half the bytes of an all-reduce, and yet slower on many nodes.
      EXPECT_LT(ours.seconds.front(), all_reduce.seconds.front()) << size;
      EXPECT_GT(ours.seconds.back(), 2 * all_reduce.seconds.back()) << size;
    }
  }
}

// Message 2: up to 128 accelerators the calls of FSDP are hidden, from there on each doubling
// exposes more.
TEST(StudyMessages, FsdpBecomesBoundByCommunicationFromRoughly128AcceleratorsOn) {
  const SweepAnswer weak = swept(SweepAxis::weak, {{"gpus", "8"},
                                                   {"global-batch", "16"},
                                                   {"micro-batch", "2"},
                                                   {"at", "8,16,32,64,128,256,512,1024,2048"}});
  const std::vector<SweepPoint>& points = weak.series.front().points;
  ASSERT_EQ(points.size(), 9U);
  for (std::size_t i = 0; i <= 4; ++i) EXPECT_LT(exposed_share(points[i]), 0.03) << points[i].label;
  EXPECT_GT(mfu(points[4]), 0.97 * mfu(points[0]));
  for (std::size_t i = 5; i < 9; ++i) {
    EXPECT_LT(mfu(points[i]), mfu(points[i - 1])) << points[i].label;
    EXPECT_GT(points[i].exposed, 1.15 * points[i - 1].exposed) << points[i].label;
    // Ring latency: the calls grow in proportion to the ranks, beside what is bandwidth.
    EXPECT_GT(points[i].communication - points[i - 1].communication,
              1.9 * (points[i - 1].communication - points[i - 2].communication))
        << points[i].label;
  }
  // By 2,048 the calls take nearly as long as computation, and an accelerator added brings half.
  EXPECT_GT(points.back().communication, 0.9 * points.back().forecast.parts.compute);
  const auto tokens = [&](std::size_t i) { return points[i].forecast.tokens_per_second; };
  EXPECT_LT((tokens(8) - tokens(7)) / 1024, 0.55 * tokens(0) / 8);
}

std::vector<MeasuredRun> measured_runs_of(const std::string& source) {
  const auto text = read_file(source_dir() + "/data/measurements/training.csv");
  EXPECT_TRUE(text.ok());
  auto corpus = read_corpus(*text, "training.csv");
  EXPECT_TRUE(corpus.ok());
  std::erase_if(corpus.value().rows,
                [&](const CorpusRow& row) { return row.source_key != source; });
  return measured_runs(*corpus);
}

// The measured stand-in: MPT 7B by FSDP on H100 (llm-foundry): MFU 46.4, 45.7, 44.2, 42.2 %.
TEST(StudyMessages, MeasuredFsdpOf7BFallsFrom128To512AcceleratorsAndSoDoesOurs) {
  std::map<std::int64_t, std::pair<double, double>> rates;  // measured, predicted steps/s
  for (const MeasuredRun& row : measured_runs_of("llmfoundry")) {
    const bool ours = row.accelerator == "H100" &&
                      row.run.model.name.find("7b") != std::string::npos &&
                      row.run.job.sequence == 2048 && row.run.layout.micro_batch == 6 &&
                      row.run.layout.recompute == Recompute::none && row.step_time;
    if (!ours || row.run.job.recipe->matmul != Precision::bf16) continue;
    rates[row.run.layout.ranks()] = {1 / *row.step_time,
                                     1 / forecast_of(row.run).step_time.value()};
  }
  ASSERT_TRUE(rates.contains(128) && rates.contains(256) && rates.contains(512));
  for (const auto& [ranks, rate] : rates) {
    if (ranks < 128) continue;
    EXPECT_NEAR(rate.second / rate.first, 1, 0.06) << ranks;
  }
  for (const bool predicted : {false, true}) {
    const auto at = [&, predicted](std::int64_t ranks) {
      return predicted ? rates[ranks].second : rates[ranks].first;
    };
    EXPECT_LT(at(256), at(128));
    EXPECT_LT(at(512), at(256));
    EXPECT_GT(at(512), 0.85 * at(128));
  }
}

// Message 3.
TEST(StudyMessages, ModelParallelismOfTwoToFourOvertakesFsdp) {
  const SweepAnswer large = swept(SweepAxis::layout, {{"gpus", "2048"}, {"global-batch", "4096"}});
  const auto rate = [](const SweepAnswer& of, std::size_t series, const std::string& degree) {
    for (const SweepPoint& point : of.series[series].points) {
      if (point.label == degree) return point.forecast.tokens_per_second;
    }
    return 0.0;
  };
  constexpr std::size_t kData = 0, kTensor = 1;
  EXPECT_GT(rate(large, kTensor, "2"), 1.1 * rate(large, kData, "1"));
  EXPECT_GT(rate(large, kTensor, "4"), 1.1 * rate(large, kData, "1"));
  EXPECT_GT(rate(large, kTensor, "4"), rate(large, kTensor, "8"));

  const SweepAnswer small = swept(SweepAxis::layout, {{"gpus", "64"}, {"global-batch", "128"}});
  for (const char* degree : {"2", "4", "8"}) {
    EXPECT_LT(rate(small, kTensor, degree), rate(small, kData, "1")) << degree;
  }
  for (const SweepAnswer* each : {&large, &small}) {
    ASSERT_TRUE(each->crossover.has_value());
    EXPECT_FALSE(each->crossover->at_once);
    EXPECT_GE(each->crossover->accelerators, 128);
    EXPECT_LE(each->crossover->accelerators, 1024);
    const Layout& split = each->crossover->split.run.layout;
    EXPECT_LE(split.tp * split.pp * split.cp, 4);
  }
}

// The measured stand-in: nanotron on H100 with a fixed batch (ultra-scale playbook): the best of
// the measured layouts of the 8.86B has a tensor degree of 1 on 32 and 64 accelerators, of 4 and
// more on 128 and 512, and of those that were measured the predicted best does so, too: within a
// hundredth on 128, where degrees of 2 and 4 tie.
TEST(StudyMessages, MeasuredBestLayoutsMoveToTensorParallelismAndSoDoThePredictedOnes) {
  struct Best {
    double time = HUGE_VAL;
    std::int64_t tp = 0;
  };
  std::map<std::int64_t, std::pair<Best, Best>> best;  // measured, predicted
  std::map<std::int64_t, double> of_four;              // predicted, of degrees of 4 and more
  for (const MeasuredRun& row : measured_runs_of("hf_playbook")) {
    const double size = static_cast<double>(parameters(row.run.model).total);
    if (!row.step_time || size < 8e9 || size > 10e9) continue;
    auto& [measured, predicted] = best[row.run.layout.ranks()];
    const auto take = [&](Best& into, double time) {
      if (time < into.time) into = {time, row.run.layout.tp};
    };
    take(measured, *row.step_time);
    const double time = forecast_of(row.run).step_time.value();
    take(predicted, time);
    double& least = of_four.try_emplace(row.run.layout.ranks(), HUGE_VAL).first->second;
    if (row.run.layout.tp >= 4) least = std::min(least, time);
  }
  for (const std::int64_t ranks : {32, 64}) {
    EXPECT_EQ(best[ranks].first.tp, 1) << ranks;
    EXPECT_LE(best[ranks].second.tp, 2) << ranks;
  }
  for (const std::int64_t ranks : {128, 512}) {
    EXPECT_GE(best[ranks].first.tp, 4) << ranks;
    EXPECT_LE(of_four[ranks], 1.01 * best[ranks].second.time) << ranks;
  }
}

// Message 4: the same network for all; and on their own.
TEST(StudyMessages, NewerAcceleratorsReachALowerMfuOnTheSameNetwork) {
  const SweepAnswer hardware =
      swept(SweepAxis::hardware,
            {{"gpus", "256"}, {"global-batch", "512"}, {"at", "dgx-a100-80gb,dgx-h100,dgx-b200"}});
  ASSERT_EQ(hardware.series.size(), 2U);
  for (const SweepSeries& series : hardware.series) {
    ASSERT_EQ(series.points.size(), 3U) << series.name;
    EXPECT_LT(mfu(series.points[1]), 0.9 * mfu(series.points[0])) << series.name;
    EXPECT_LT(mfu(series.points[2]), 0.95 * mfu(series.points[1])) << series.name;
    // And are faster for all that.
    for (std::size_t i = 1; i < 3; ++i) {
      EXPECT_GT(series.points[i].forecast.tokens_per_second,
                1.3 * series.points[i - 1].forecast.tokens_per_second);
    }
    EXPECT_GT(exposed_share(series.points[2]), exposed_share(series.points[0]));
  }
  EXPECT_EQ(hardware.series[1].points[0].run.cluster.levels[1].bandwidth,
            hardware.series[1].points[2].run.cluster.levels[1].bandwidth);
}

// Message 5, on 256 H100. Measured (llm-foundry): 44.15 % of 7B, 42.42 % of 70B, which recomputes.
TEST(StudyMessages, MfuFallsFrom7BTo70BAtAFixedScale) {
  const SweepAnswer models = swept(SweepAxis::model, {{"gpus", "256"}, {"global-batch", "512"}});
  const std::vector<SweepPoint>& points = models.series.front().points;
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[1].label, "llama-2-7b");
  EXPECT_EQ(points[3].label, "llama-2-70b");
  EXPECT_LT(mfu(points[3]), mfu(points[1]));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_GT(points[i].communication, points[i - 1].communication);
  }
}

// Message 6: one sequence an accelerator, longer and longer.
TEST(StudyMessages, LongerContextRaisesUtilisationUntilMemoryEndsIt) {
  const SweepAnswer context = swept(SweepAxis::context, {{"gpus", "512"},
                                                         {"global-batch", "512"},
                                                         {"keep", "sequences"},
                                                         {"micro-batch", "1"},
                                                         {"at",
                                                          "1024,2048,4096,8192,16384,32768,"
                                                          "65536,131072,262144,524288"}});
  const SweepSeries& series = context.series.front();
  ASSERT_GE(series.points.size(), 4U);
  for (std::size_t i = 1; i < series.points.size(); ++i) {
    if (series.points[i].run.layout.recompute == series.points[i - 1].run.layout.recompute) {
      EXPECT_GT(mfu(series.points[i]), mfu(series.points[i - 1])) << series.points[i].label;
    }
  }
  ASSERT_FALSE(series.left_out.empty());
  EXPECT_NE(series.left_out.front().reason.find("does not fit"), std::string::npos);
}

// Power falls far less than throughput (measured: -5.9 % and -37.2 % from 128 to 2,048 H100), so
// tokens a joule fall nearly as throughput does.
TEST(StudyMessages, PowerHardlyFallsWhereThroughputDoes) {
  const SweepAnswer weak =
      swept(SweepAxis::weak,
            {{"gpus", "128"}, {"global-batch", "256"}, {"micro-batch", "2"}, {"at", "128,2048"}});
  const std::vector<SweepPoint>& points = weak.series.front().points;
  ASSERT_EQ(points.size(), 2U);
  const auto fall = [&](auto value) { return 1 - value(points[1]) / value(points[0]); };
  const double throughput =
      fall([](const SweepPoint& p) { return p.forecast.tokens_per_second_per_accelerator; });
  const double power = fall([](const SweepPoint& p) { return p.cost.accelerator_power.value(); });
  const double energy = fall([](const SweepPoint& p) { return p.tokens_per_joule; });
  EXPECT_NEAR(throughput, 0.372, 0.08);
  EXPECT_NEAR(power, 0.059, 0.02);
  EXPECT_NEAR(1 - energy, (1 - throughput) / (1 - power), 1e-9);
}

}  // namespace
}  // namespace headway

#include "study/design/design.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/text.hpp"
#include "forecast/forecast.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

Serving serving_on(const std::string& cluster, std::int64_t tp,
                   const std::string& model = "llama-3-70b") {
  return testing::serving_of(model, cluster, tp);
}

DesignWorkload served_batch(std::int64_t tp = 8) {
  return serving_workload(serving_on("dgx-h100", tp), {.input = 1000, .output = 500, .batch = 16});
}

RequestedRun trained_on(std::int64_t gpus) {
  return *make_run({{"model", "llama-3-8b"},
                    {"cluster", "dgx-h100"},
                    {"gpus", std::to_string(gpus)},
                    {"seq", "4096"},
                    {"global-batch", "64"},
                    {"zero", "2"}});
}

DesignAnswer designed(DesignWorkload workload, const std::vector<std::string>& vary) {
  auto axes = read_axes(vary, workload);
  EXPECT_TRUE(axes.ok());
  auto out = make_design(std::move(workload), *axes, {});
  EXPECT_TRUE(out.ok());
  return std::move(out).value();
}

// Every fixed time of a serving by the same factor.
void stretch_times(Serving& serving, ServingConstants& constants, double by) {
  KernelParameters& kernels = constants.alone.kernels;
  for (Seconds* time : {&kernels.shortest_kernel, &kernels.matmul_start, &kernels.grouped_start,
                        &constants.kernels.decode.start, &constants.kernels.latent.start,
                        &constants.kernels.prompt.start, &constants.kernels.once_start,
                        &constants.kernels.twice_start, &serving.engine.step,
                        &serving.engine.sequence, &serving.engine.prompt, &serving.engine.token,
                        &serving.engine.launch, &serving.engine.experts, &serving.engine.request}) {
    *time *= by;
  }
  for (ProductParameters& product : kernels.products) {
    product.loop_step *= by;
    product.quantisation_start *= by;
  }
  for (auto& [architecture, time] : serving.engine.layer) time *= by;
  for (NetworkParameters& network : constants.alone.levels) {
    for (Seconds* time : {&network.base_latency, &network.ring_step, &network.ring_step_through,
                          &network.ring_gap, &network.tree_fill}) {
      *time *= by;
    }
  }
  for (Level& level : serving.cluster.levels) level.latency *= by;
}

// [DESIGN-1] All rates times k and all fixed times over k: everything takes 1/k as long; and what
// no rate is answerable for is the derivative in the fixed times.
RC_GTEST_PROP(Elasticities, OfRatesAndFixedTimesAddUpToOne, ()) {
  const std::string model = *rc::gen::element<std::string>("llama-3-8b", "mixtral-8x7b");
  const Serving base = serving_on("dgx-h200", *rc::gen::element(1, 2, 8), model);
  const PassWork work = {.sequences = *rc::gen::inRange(1, 200),
                         .tokens = *rc::gen::element(1, 100, 2000),
                         .cached = *rc::gen::inRange(0, 8000),
                         .replayed = *rc::gen::arbitrary<bool>()};
  const ServingConstants constants = *serving_constants(base.cluster);
  const auto time = [&](double rates, double times) {
    Serving serving = base;
    ServingConstants other = constants;
    stretch_times(serving, other, times);
    for (std::size_t rate = 0; rate < kRateNames.size(); ++rate) {
      serving.cluster = with_rate(serving.cluster, static_cast<Rate>(rate), rates);
    }
    return time_of(serving, other, work).total().value();
  };
  const double k = 0.5 + *rc::gen::inRange(0, 40) / 10.0;
  RC_ASSERT(std::abs(time(k, 1 / k) * k / time(1, 1) - 1) < 1e-9);
  const BoundTimes bounds = bound_times(base.cluster, [&](const Cluster& on) {
    Serving serving = base;
    serving.cluster = on;
    return std::vector<Seconds>{time_of(serving, constants, work).total()};
  })[0];
  const double by_times = (time(1, std::exp(1e-4)) - time(1, std::exp(-1e-4))) / 2e-4;
  RC_ASSERT(std::abs(bounds[Bound::latency].value() - by_times) < 1e-4 * time(1, 1));
}

// The machine as it is gives what the commands of training and serving give.
TEST(DesignAnswer, OfTheMachineAsItIsIsItsForecast) {
  const RequestedRun run = trained_on(64);
  const DesignAnswer trained = designed(training_workload(run), {"bandwidth=3TB/s,4TB/s"});
  EXPECT_EQ(trained.base.times.front().time, forecast(run, *calibration_for(run)).step_time);
  const Serving serving = serving_on("dgx-h100", 8);
  const Served plain = served(serving, *serving_constants(serving.cluster),
                              {.input = 1000, .output = 500, .batch = 16});
  const DesignAnswer served = designed(served_batch(), {"bandwidth=3TB/s,4TB/s"});
  EXPECT_EQ(served.base.times[0].time, plain.each_token);
  EXPECT_EQ(served.base.times[1].time, plain.first_token);
  EXPECT_EQ(served.base.times[2].time, plain.latency);
}

// [DESIGN-8] Decoding gets faster in proportion to the bandwidth of memory as long as that binds,
// and no faster than everything else takes.
TEST(DesignAnswer, DecodingFollowsMemoryUntilSomethingElseBinds) {
  const DesignAnswer design = designed(served_batch(), {"bandwidth=200GB/s..200TB/s:13"});
  const auto each = [&](std::size_t i) { return design.points[i].times[0]; };
  for (std::size_t i = 0; i + 1 < design.points.size(); ++i) {
    EXPECT_GT(each(i).time, each(i + 1).time);
    EXPECT_GE(each(i).rates[static_cast<std::size_t>(Rate::memory)] + 1e-6,
              each(i + 1).rates[static_cast<std::size_t>(Rate::memory)]);
  }
  EXPECT_EQ(each(0).bounds.most(), Bound::memory);
  EXPECT_GT(each(0).rates[static_cast<std::size_t>(Rate::memory)], 0.9);
  const DesignTime last = each(design.points.size() - 1);
  EXPECT_NE(last.bounds.most(), Bound::memory);
  EXPECT_LT(last.rates[static_cast<std::size_t>(Rate::memory)], 0.05);

  // Once of each token, and there memory's share is the other's.
  std::vector<BoundMove> of_token;
  for (const BoundMove& move : design.moves) {
    if (move.time == 0) of_token.push_back(move);
  }
  ASSERT_FALSE(of_token.empty());
  EXPECT_EQ(of_token.front().before, Bound::memory);
  const auto at = [&](double value) {
    return designed(served_batch(), {"bandwidth=" + std::to_string(value) + " B/s"})
        .points[0]
        .times[0];
  };
  const double value = of_token.front().value;
  EXPECT_EQ(at(value * 0.99).bounds.most(), Bound::memory);
  EXPECT_EQ(at(value * 1.01).bounds.most(), of_token.front().after);
}

// Twice the links bring at most what the network is answerable for, and the more the larger the
// share: training on slow links is bound by them.
TEST(DesignAnswer, OfSlowNetworksIsBoundByThem) {
  const DesignAnswer design =
      designed(training_workload(trained_on(64)), {"network-bandwidth=200MB/s..200GB/s:7"});
  EXPECT_EQ(design.points.front().times[0].bounds.most(), Bound::network);
  EXPECT_EQ(design.points.back().times[0].bounds.most(), Bound::compute);
  ASSERT_FALSE(design.moves.empty());
  EXPECT_EQ(design.moves.front().before, Bound::network);
}

// 160 sums of a decode pass by the engine's own kernels, whatever they begin with: ten times the
// latency is ten times that, until the library's are no slower.
TEST(DesignAnswer, OfSlowLinksIsSlowWhicheverKernelsSum) {
  const DesignAnswer answer = designed(served_batch(), {"link-latency=1.9us,3.8us,19us,190us"});
  double before = 0;
  for (const DesignPoint& point : answer.points) {
    EXPECT_GT(point.times.front().time.value(), before);
    before = point.times.front().time.value();
  }
  EXPECT_NEAR(answer.points[0].times.front().time / answer.base.times.front().time, 1, 1e-9);
  EXPECT_GT(before, 160 * 190e-6);
}

// A machine that another beats in speed, power, area and money is not on the front.
TEST(DesignAnswer, FrontHasWhatNoOtherBeats) {
  const DesignAnswer design =
      designed(served_batch(), {"memory=hbm2e,hbm3,hbm4", "node=n5,n3", "power=300W..1200W:4"});
  ASSERT_EQ(design.points.size(), 24U);
  int front = 0;
  for (const DesignPoint& point : design.points) {
    if (!point.stands()) continue;
    bool beaten = false;
    for (const DesignPoint& other : design.points) {
      beaten =
          beaten || (other.stands() && other.tokens_per_second > point.tokens_per_second &&
                     other.power() < point.power() && *other.machine.area <= *point.machine.area &&
                     other.machine.parts->middle() <= point.machine.parts->middle());
    }
    if (beaten) {
      EXPECT_FALSE(point.on_front);
    }
    front += point.on_front ? 1 : 0;
  }
  EXPECT_GE(front, 2);
}

// Of memory that is as fast and draws as much the dearer is beaten where money counts, which it
// does not where links differ, of which no price is known.
TEST(DesignAnswer, FrontCountsMoneyWhereAllPartsHaveAPrice) {
  const DesignAnswer priced = designed(served_batch(), {"memory=hbm3,hbm3e,hbm4"});
  EXPECT_TRUE(priced.counts_money);
  const DesignAnswer links =
      designed(served_batch(), {"memory=hbm3,hbm3e", "link=nvlink4,nvlink5"});
  EXPECT_FALSE(links.counts_money);
  EXPECT_TRUE(links.points.front().machine.parts);
  const DesignAnswer unpriced = designed(served_batch(), {"memory=hbm3,hbm4e"});
  EXPECT_FALSE(unpriced.counts_money);
}

TEST(DesignAxes, SayEverythingThatIsWrongAtOnce) {
  const auto axes = read_axes({"hbm=hbm9", "color=red", "bandwidth=1TB/s..16TB/s", "units=0",
                               "network=ib-ndr", "link=ib-ndr", "area", "node=n3,n3"},
                              served_batch());
  ASSERT_FALSE(axes.ok());
  std::string all;
  for (const Problem& problem : axes.problems()) all += problem.message + "\n";
  for (const char* said :
       {"hbm2e", "'color'", "must end in how many values", "no whole number",
        "no network is crossed", "nvlink4", "area has no values", "node has 'n3' twice"}) {
    EXPECT_NE(all.find(said), std::string::npos) << said << " in\n" << all;
  }
  EXPECT_FALSE(
      read_axes({"bandwidth=1TB/s..2TB/s:100", "peak=1PFLOP/s..2PFLOP/s:11"}, served_batch()).ok());
  EXPECT_FALSE(read_axes({"peak=1PFLOP/s", "power=500W"}, served_batch()).ok());
  EXPECT_FALSE(read_axes({}, served_batch()).ok());
  EXPECT_FALSE(read_axes({"link=nvlink5"}, served_batch(1)).ok());
}

// Eight lie in one domain of eight: one of 72 joins no more of them; one of 4 parts them.
TEST(DesignAxes, RefuseDomainsThatChangeNothing) {
  EXPECT_FALSE(read_axes({"domain=16,72"}, served_batch(8)).ok());
  EXPECT_TRUE(read_axes({"domain=4,72"}, served_batch(8)).ok());
}

TEST(DesignAxes, RangesAreGeometric) {
  const auto axes = read_axes({"hbm=hbm3,hbm4", "bandwidth=1TB/s..16TB/s:5"}, served_batch());
  ASSERT_TRUE(axes.ok());
  EXPECT_EQ((*axes)[0].row->name, "memory");
  ASSERT_EQ((*axes)[1].values.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR((*axes)[1].values[i].number, 1e12 * std::pow(2.0, static_cast<double>(i)), 1e3);
  }
}

// [KERNEL-9] What little bandwidth leaves to do again the cache must hold: at 1 TB/s a first
// token is sooner with some of the cache's area for arithmetic, and later with nearly all of it.
TEST(Design, ArithmeticNeedsACacheWhereMemoryIsSlow) {
  const DesignAnswer answer =
      designed(served_batch(), {"bandwidth=1TB/s", "arithmetic=0.4,0.6,0.6499"});
  ASSERT_EQ(answer.points.size(), 3U);
  const auto first = [&](std::size_t i) { return answer.points[i].times[1].time; };
  EXPECT_LT(first(1), first(0));
  EXPECT_GT(first(2), first(1));
}

// [DESIGN-11] A network of pieces that have prices counts on the front, NVLink 4, which has none,
// does not; what a bit takes costs nothing.
TEST(Design, CountsMoneyWhereLinksThatDifferHaveAPrice) {
  const DesignWorkload training = training_workload(trained_on(64));
  const auto counts = [&](const std::vector<std::string>& vary) {
    return designed(training, vary).counts_money;
  };
  EXPECT_TRUE(counts({"network=ib-ndr,ib-xdr"}));
  EXPECT_TRUE(counts({"network-energy=5pJ"}));
  EXPECT_FALSE(counts({"link=nvlink4,nvlink5"}));
  EXPECT_FALSE(counts({"network-bandwidth=100GB/s"}));
  const DesignAnswer networks = designed(training, {"network=ib-ndr,ib-xdr"});
  EXPECT_LT(networks.points[0].fabric->middle(), networks.points[1].fabric->middle());
}

// [INFER-17] Of clients the closed form, near what is placed in time; what each rate and all fixed
// times are answerable for add up, as of a batch, whatever the machine.
TEST(DesignAnswer, OfClientsIsNearWhatIsPlacedInTime) {
  const Serving serving = serving_on("dgx-h100", 8);
  const ServingConstants constants = *serving_constants(serving.cluster);
  const Load load{.input = 1000, .output = 500, .arrivals = Arrivals::clients, .batch = 64};
  const DesignAnswer answer =
      designed(serving_workload(serving, load), {"bandwidth=500GB/s,3TB/s,8TB/s"});
  const Served placed = served(serving, constants, load);
  EXPECT_NEAR(answer.base.times[0].time / placed.each_token, 1, 0.15);
  EXPECT_NEAR(answer.base.times[1].time / placed.first_token, 1, 0.4);
  EXPECT_NEAR(answer.base.tokens_per_second / placed.output_per_second, 1, 0.1);
  Seconds before = answer.points[0].times[0].time;
  for (const DesignPoint& point : answer.points) {
    ASSERT_TRUE(point.stands());
    EXPECT_LE(point.times[0].time, before);
    before = point.times[0].time;
    for (const DesignTime& time : point.times) {
      EXPECT_NEAR(time.bounds.total() / time.time, 1, 1e-9);
      for (const Seconds each : time.bounds.of()) {
        EXPECT_GT(each.value(), -1e-6 * time.time.value());
      }
    }
  }
}

}  // namespace
}  // namespace headway

#include "study/jobs/shared_links.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "study/jobs/cluster.hpp"
#include "study/jobs/forecast_machine.hpp"
#include "study/jobs/stream.hpp"

namespace headway {
namespace {

constexpr BytesPerSecond kStream{1e9};

std::vector<double> two_on_one_link(StepOnLinks step) {
  const JobOnLinks job{step, {0}, 1};
  const std::vector<JobOnLinks> jobs = {job, job};
  const std::vector<BytesPerSecond> links = {kStream};
  return slowdowns_on_links(jobs, links, kStream);
}

TEST(SharedLinks, JOBS_13_two_jobs_on_one_link_take_what_their_overlap_costs) {
  // [JOBS-13] Two like jobs compute for c, then send for e. The second begins g (c + e) later, so
  // the first's next step begins d = (1 - g)(c + e) behind a step of the second. With d < e the
  // second has sent d when the first begins to send, both then have half the link, the second ends
  // 2 (e - d) later and the first, which has d left and the whole link, d after it: the lag stays
  // and each step takes c + 2 e - d. The other lag is longer than e.
  const double c = 1, e = 1, g = 0.6180339887498949;
  const double d = (1 - g) * (c + e);
  ASSERT_LT(d, e);
  ASSERT_GE(c + 2 * e - d - d, e);
  for (const double slowdown : two_on_one_link({Seconds(c), Seconds(), Seconds(e)})) {
    EXPECT_NEAR(slowdown, (c + 2 * e - d) / (c + e), 1e-9);
  }
}

TEST(SharedLinks, JOBS_13_sending_that_does_not_meet_costs_nothing) {
  // [JOBS-13] A tenth of each step is sent, begun 0.618 of a step apart.
  for (const double slowdown : two_on_one_link({Seconds(9), Seconds(), Seconds(1)})) {
    EXPECT_NEAR(slowdown, 1, 1e-9);
  }
}

TEST(SharedLinks, JOBS_13_a_link_that_two_always_use_gives_each_a_half_and_three_a_third) {
  // [JOBS-13] Nothing is computed: the link's bytes are all there is.
  for (const double slowdown : two_on_one_link({Seconds(), Seconds(), Seconds(1)})) {
    EXPECT_NEAR(slowdown, 2, 1e-9);
  }
  const JobOnLinks job{{Seconds(1), Seconds(1), Seconds()}, {0}, 1};
  const std::vector<JobOnLinks> three = {job, job, job};
  for (const double slowdown : slowdowns_on_links(three, std::vector{kStream}, kStream)) {
    EXPECT_NEAR(slowdown, 3,
                1e-9);  // hidden behind as much computation, until it is thrice as long
  }
}

TEST(SharedLinks, JOBS_13_a_link_narrower_than_a_stream_slows_a_job_that_is_alone) {
  // [JOBS-13] Half the width: what is sent takes twice as long, what hides it stays.
  const std::vector<JobOnLinks> one = {{{Seconds(3), Seconds(1), Seconds(2)}, {0}, 1}};
  const auto found = slowdowns_on_links(one, std::vector{BytesPerSecond(0.5e9)}, kStream);
  EXPECT_NEAR(found.front(), (3 + 4) / 5.0, 1e-9);
}

TEST(SharedLinks, rings_cross_each_switch_once_and_exchanges_by_all_pairs) {
  const LeafSwitches leaves{4, BytesPerSecond(4e9), kStream};
  const std::vector<std::size_t> inside = {0, 1, 2, 3}, across = {2, 3, 4, 5, 6, 7};
  EXPECT_TRUE(leaves.use({}, inside).links.empty());
  const JobOnLinks ring = leaves.use({}, across);
  EXPECT_EQ(ring.links, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(ring.streams, 1);
  // Of six nodes four lie below the second switch, two below the first: 4 x 2 / 5 either way.
  EXPECT_NEAR(leaves.use({{}, {}, {}, 1}, across).streams, 4 * 2 / 5.0, 1e-12);
}

// Jobs of two nodes that send half of each step, four nodes below two switches.
std::unique_ptr<JobMachine> two_switches(double uplink) {
  const StepOnLinks step{Seconds(1), Seconds(1), Seconds()};
  return forecast_job_machine(4, {{"job", {{2, Seconds(100), Joules(), 0, step}}}}, std::nullopt,
                              {3, BytesPerSecond(uplink), kStream});
}

TEST(SharedLinks, JOBS_14_a_job_is_slow_while_another_shares_its_links_and_only_then) {
  // [JOBS-14] Nodes 0, 1 lie below one switch; nodes 2, 3 below two, on a link of half a stream:
  // x 2.
  const auto machine = two_switches(0.5e9);
  JobCluster cluster(*machine, {});
  ASSERT_FALSE(cluster.submit({0, Seconds(0), Seconds(1e9)}, 2).blocked);
  ASSERT_FALSE(cluster.submit({0, Seconds(0), Seconds(1e9)}, 2).blocked);
  cluster.advance(Seconds(150));
  const auto first = cluster.take_ended();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first.front().submitted, 0U);
  EXPECT_NEAR(first.front().end.value(), 100, 1e-6);
  cluster.advance(Seconds(1000));
  const auto second = cluster.take_ended();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_NEAR(second.front().end.value(), 200, 1e-6);
  EXPECT_EQ(cluster.free(), 4U);
}

TEST(SharedLinks, links_without_end_change_nothing) {
  const auto machine = two_switches(1e12);
  JobLaw law;
  law.weights = {1};
  law.interval = Seconds(30);
  const auto jobs = drawn_jobs(law, *machine, 1, 50);
  const auto none = forecast_job_machine(4, {{"job", {{2, Seconds(100), Joules(), 0, {}}}}});
  const StreamOutcome shared = run_stream(jobs, *machine, {}, {}, nullptr, 1, Seconds());
  const StreamOutcome alone = run_stream(jobs, *none, {}, {}, nullptr, 1, Seconds());
  EXPECT_EQ(shared.blocked, alone.blocked);
  EXPECT_NEAR(shared.utilisation, alone.utilisation, 1e-9);
  for (const double slowdown : shared.slowdowns) EXPECT_NEAR(slowdown, 1, 1e-9);
  EXPECT_EQ(shared.late, 0U);
}

}  // namespace
}  // namespace headway

// Whether gains are what the run would gain: each machine is run with a fault and without it, and
// what advice says of it is held against the difference.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>

#include "study/advise/advise.hpp"
#include "study/advise/made_recording_for_test.hpp"

namespace headway {
namespace {

using testing::Case;
using testing::end_of;
using testing::Faults;
using testing::recording_of_run;

// [OWN-1], [OWN-2] of one run: how setups spread, and runs of one (data/calibration/own.toml). One
// run alone moves no factor, as its residual may be chance.
constexpr double kBetween = 0.138, kWithin = 0.068;
OwnSetup of_one_step(const Setup& setup, double residual) {
  const double spread = kBetween * kBetween + kWithin * kWithin;
  const double kept = kBetween * kBetween / spread;
  const double left = kBetween * kBetween * (1 - kept) + kWithin * kWithin + residual * residual;
  return {.setup = setup,
          .runs = 1,
          .factor = 1,
          .interval = std::min(1.0, std::sqrt(left / spread)),
          .agree = false,
          .looks = {}};
}

enum class Kind { slow_rank, slow_link, exposed };

struct Drawn {
  Kind kind = Kind::slow_rank;
  Faults with, without;
};

// A machine whose kernels are off the model's as setups are off, and whose transfers are off by a
// fifth, and one fault of it.
Drawn drawn(std::mt19937& random, int number, std::int64_t ranks) {
  const auto share = [&] { return static_cast<double>(random() % 10'000) / 10'000; };
  // Of twelve evenly drawn shares, as of a normal law.
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += share();
    return sum;
  };
  Drawn out;
  out.kind = static_cast<Kind>(number % 3);
  out.without.kernels = std::exp(kBetween * normal());
  out.without.transfers = std::exp(0.2 * normal());
  out.with = out.without;
  switch (out.kind) {
    case Kind::slow_rank:
      out.with.slow_rank = static_cast<std::int64_t>(random() % static_cast<unsigned>(ranks));
      out.with.slow = 1.15 + share();
      break;
    case Kind::slow_link:
      out.with.network = 4 + 16 * share();
      break;
    case Kind::exposed:
      out.with.exposed = true;
      break;
  }
  return out;
}

AdviceKind kind_of(Kind kind) {
  return kind == Kind::slow_rank   ? AdviceKind::late_rank
         : kind == Kind::slow_link ? AdviceKind::slow_link
                                   : AdviceKind::exposed;
}

struct Count {
  int drawn = 0, named = 0, within = 0;
};

Count count_of(const Case& c, int draws, unsigned seed) {
  std::mt19937 random(seed);
  Count out;
  for (int i = 0; i < draws; ++i) {
    const Drawn one = drawn(random, i, c.layout.ranks());
    const Recording recording = recording_of_run(c, one.with, 2);
    const double truth = 1 - end_of(recording_of_run(c, one.without, 2)) / end_of(recording);
    if (truth < kLeastGain) continue;
    ++out.drawn;
    const auto advised = advise(testing::asked(c), recording, of_one_step, {.layouts = false});
    if (!advised) continue;
    for (const Advice& advice : advised->advice) {
      if (advice.kind != kind_of(one.kind)) continue;
      ++out.named;
      out.within += advice.interval.low <= truth && truth <= advice.interval.high ? 1 : 0;
      break;
    }
  }
  return out;
}

// [ADVISE-2] [ADVISE-8] Few of the draws that docs/advise.md counts.
TEST(AdviseGains, LieInTheirIntervals) {
  const Count count = count_of(testing::two_nodes(), 6, 1);
  EXPECT_EQ(count.drawn, 6);
  EXPECT_EQ(count.named, 6);
  EXPECT_GE(count.within, 4);
}

// The first draws were looked at while the intervals were made, the others not. Takes half a
// minute: run it with --gtest_also_run_disabled_tests.
TEST(AdviseGains, DISABLED_FourOfFiveLieInTheirIntervals) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Count count = count_of(testing::two_nodes(), 60, seed);
    EXPECT_EQ(count.named, count.drawn);
    EXPECT_NEAR(static_cast<double>(count.within) / count.drawn, 0.8, 0.1);
    std::cout << count.within << " of " << count.drawn << " within\n";
  }
}

}  // namespace
}  // namespace headway

#include "study/plan/space/offers.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

Result<Offers> offers_of(const std::string& lines) {
  return read_offers(parse_toml("[plan]\n" + lines, "own.toml").value());
}

constexpr const char* kLeast = "orders = [\"tp, cp, dp, pp\"]\nschedules = [\"1f1b\"]\n";

TEST(Offers, HoldWhatTheTableSaysAndElseNothing) {
  const auto least = offers_of(kLeast);
  ASSERT_TRUE(least.ok());
  EXPECT_EQ(least->orders, std::vector<Order>{Layout().order});
  EXPECT_TRUE(least->exchanges.empty());
  EXPECT_EQ(least->zero, (std::array<bool, 4>{}));
  EXPECT_EQ(least->overlap, OverlapOffer::nothing);
  const auto more =
      offers_of(std::string(kLeast) +
                "exchanges = [\"all-to-all\"]\nzero = [0, 3]\noverlap = \"both\"\n"
                "offloads_activations = \"with-recompute\"\n"
                "sharded_precisions = [\"bf16\"]\noverlap_experts = true\nhybrid = [3]\n"
                "once_architectures = [\"hopper\"]\n");
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(more->exchanges, std::vector<ContextExchange>{ContextExchange::all_to_all});
  EXPECT_EQ(more->zero, (std::array{true, false, false, true}));
  EXPECT_EQ(more->overlap, OverlapOffer::both);
  EXPECT_EQ(more->hybrid, (std::array{false, false, false, true}));
  EXPECT_FALSE(least->overlap_experts);
  EXPECT_TRUE(more->overlap_experts);
  EXPECT_TRUE(least->once_architectures.empty());
  EXPECT_EQ(more->once_architectures, std::vector<std::string>{"hopper"});
  for (int i = 0; i < kPrecisions; ++i) {
    const bool is_bf16 = static_cast<Precision>(i) == Precision::bf16;
    EXPECT_EQ(more->sharded_precisions[static_cast<std::size_t>(i)], is_bf16) << kPrecisionNames[i];
  }
  EXPECT_EQ(more->offloads_activations, ActivationOffload::with_recompute);
}

TEST(Offers, RefuseWhatIsNoLayout) {
  for (const char* wrong : {"orders = [\"tp, cp, dp\"]\nschedules = [\"1f1b\"]",
                            "orders = [\"tp, cp, dp, dp\"]\nschedules = [\"1f1b\"]",
                            "orders = [\"tp, cp, dp, pp, tp\"]\nschedules = [\"1f1b\"]",
                            "orders = [\"tp, cp, dp, pp\"]\nschedules = [\"2f2b\"]",
                            "orders = [\"tp, cp, dp, pp\"]", "schedules = [\"1f1b\"]"}) {
    EXPECT_FALSE(offers_of(wrong).ok()) << wrong;
  }
  EXPECT_FALSE(offers_of(std::string(kLeast) + "zero = [4]").ok());
  EXPECT_FALSE(offers_of(std::string(kLeast) + "sharded_precisions = [\"bf17\"]").ok());
  EXPECT_FALSE(offers_of(std::string(kLeast) + "selectiv = true").ok());
}

// Every framework has at least one layout to offer: the plainest, on one accelerator.
TEST(Offers, OfEveryFrameworkAreRead) {
  for (std::size_t i = 0; i < framework_names().size(); ++i) {
    const Offers& one = offers(static_cast<Framework>(i));
    EXPECT_EQ(one.orders.front(), Layout().order) << framework_names()[i];
    EXPECT_EQ(one.schedules.front(), Schedule::one_f_one_b) << framework_names()[i];
    EXPECT_TRUE(one.zero[0]) << framework_names()[i];
  }
}

}  // namespace
}  // namespace headway

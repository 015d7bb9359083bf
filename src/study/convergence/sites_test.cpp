#include "study/convergence/sites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "forecast/predict/predict.hpp"
#include "method/methods.hpp"

namespace headway {
namespace {

SitesQuestion question_of(SitesGiven given = {}) {
  given.fields = {
      {"model", "tinyllama-1.1b"}, {"cluster", "dgx-h100"}, {"gpus", "8"}, {"seq", "2048"},
      {"global-batch", "512"},     {"tokens", "22B"}};
  auto question = read_sites_question(given);
  EXPECT_TRUE(question.ok());
  return std::move(question).value();
}

std::string name_of(const SitesAnswer& answer, const SiteTime& row) {
  const Method& method = answer.question.methods[row.method];
  return method.is_synchronous() ? "synchronous" : method.row->name;
}

const SiteTime& row_of(const SitesAnswer& answer, const std::string& method, std::int64_t sites,
                       double gigabits) {
  const auto at = std::find_if(answer.rows.begin(), answer.rows.end(), [&](const SiteTime& row) {
    return name_of(answer, row) == method && row.sites == sites &&
           std::abs(row.bandwidth.value() * 8 / 1e9 / gigabits - 1) < 1e-9;
  });
  EXPECT_NE(at, answer.rows.end()) << method << " on " << sites;
  return at == answer.rows.end() ? answer.rows.front() : *at;
}

// The run of all sites as a user writes it for `headway predict`.
Seconds predicted(const std::string& method) {
  const auto run = make_run({{"model", "tinyllama-1.1b"},
                             {"cluster", "dgx-h100"},
                             {"gpus", "32"},
                             {"seq", "2048"},
                             {"global-batch", "512"},
                             {"method", method}});
  EXPECT_TRUE(run.ok());
  return predict(*run)->step_time;
}

TEST(Sites, AStepIsThatOfTheForecastByTheSameMethod) {
  // [LAW-20] No second source: what `headway predict --method` says of the same sites.
  const auto answer = answer_sites(question_of());
  ASSERT_TRUE(answer.ok());
  for (const auto& [name, text] : {std::pair("gossip", "gossip:"), std::pair("ad-psgd", "ad-psgd:"),
                                   std::pair("diloco", "diloco:every=30,"),
                                   std::pair("streaming-diloco", "streaming-diloco:every=30,"),
                                   std::pair("eager-diloco", "eager-diloco:every=30,")}) {
    const Seconds expected =
        predicted(std::string(text) + "replicas=4,bandwidth=10Gb/s,latency=10ms");
    const SiteTime& row = row_of(*answer, name, 4, 10);
    EXPECT_DOUBLE_EQ(row.step.value(), expected.value()) << name;
    EXPECT_NEAR(row.time.value(), row.tokens / (512 * 2048) * expected.value(), 1e-6) << name;
  }
}

TEST(Sites, WhatASiteSendsIsCountedByHand) {
  // Weights of 1.1 B parameters in fp32: DiLoCo's all-reduce over 4 sites sends 2·(1 - 1/4) of them
  // once in 30 steps, gossip all of them to two neighbours in each, AD-PSGD to one.
  const auto answer = answer_sites(question_of());
  ASSERT_TRUE(answer.ok());
  const double weights = answer->parameters * 4;
  const auto sent = [&](const char* method, double gigabits = 10) {
    return row_of(*answer, method, 4, gigabits).sent.value();
  };
  EXPECT_NEAR(sent("diloco") / (1.5 * weights / 30), 1, 1e-3);
  EXPECT_NEAR(sent("gossip") / (2 * weights), 1, 1e-3);
  EXPECT_NEAR(sent("ad-psgd") / weights, 1, 1e-3);
  EXPECT_EQ(sent("diloco"), sent("diloco", 1));
  EXPECT_EQ(row_of(*answer, "synchronous", 1, 10).sent, Bytes());
}

TEST(Sites, NoStepIsShorterThanWhatItsLinkMustCarry) {
  const auto answer = answer_sites(question_of());
  ASSERT_TRUE(answer.ok());
  for (const SiteTime& row : answer->rows) {
    EXPECT_GE(row.exposed, Seconds());
    EXPECT_LE(row.exposed, row.step);
    // Over as many steps as there are between two exchanges the link has to carry all of it.
    EXPECT_GE(row.step.value() * (1 + 1e-9), (row.sent / row.bandwidth).value())
        << name_of(*answer, row) << " on " << row.sites;
  }
}

TEST(Sites, TokensToALossAreThoseAtWhichThePenalisedLawReachesIt) {
  // [LAW-21] By the loss law itself: penalty · L(N, D') = L(N, D).
  SitesGiven given;
  given.penalties = {"gossip=1.02"};
  const SitesQuestion question = question_of(given);
  const auto answer = answer_sites(question);
  ASSERT_TRUE(answer.ok());
  const SiteTime& row = row_of(*answer, "gossip", 4, 10);
  EXPECT_EQ(row.penalty_from, "given");
  EXPECT_NEAR(1.02 * loss_of(question.given.loss, answer->parameters, row.tokens), answer->loss,
              1e-9);
  EXPECT_GT(row.tokens, 22e9);
  // By an exponent of one's own: D · 1.02^(1/0.1).
  given.data_exponent = 0.1;
  const auto other = answer_sites(question_of(given));
  EXPECT_NEAR(row_of(*other, "gossip", 4, 10).tokens, 22e9 * std::pow(1.02, 10), 1);
}

TEST(Sites, PublishedPenaltiesAreUsedWithinTheirSizesAndNoOthersAreMade) {
  const auto answer = answer_sites(question_of());
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(row_of(*answer, "diloco", 8, 1).penalty.has_value());
  EXPECT_TRUE(row_of(*answer, "synchronous", 8, 1).penalty.has_value());
  // Streaming is published of two replicas alone, gossip and compression of none.
  for (const auto& [method, sites] :
       {std::pair("streaming-diloco", 4), std::pair("gossip", 2), std::pair("qsgd", 2)}) {
    const SiteTime& row = row_of(*answer, method, sites, 1);
    EXPECT_FALSE(row.penalty.has_value());
    EXPECT_TRUE(row.penalty_from.starts_with("no published")) << row.penalty_from;
  }
  for (const SiteTime& first : answer->first) EXPECT_TRUE(first.penalty.has_value());
}

TEST(Sites, ExtrapolationCountsNoGainThatNobodyMeasured) {
  // Far beyond 2.4 B parameters the fits of replicas lie below that of data parallelism.
  SitesGiven given;
  given.extrapolate = true;
  const auto within = answer_sites(question_of(given));
  EXPECT_GT(*row_of(*within, "diloco", 8, 1).penalty, 1.01);  // published, as before
  given.sync_every = 100;                                     // of which nothing is published
  const auto beyond = answer_sites(question_of(given));
  const SiteTime& row = row_of(*beyond, "diloco", 8, 1);
  ASSERT_TRUE(row.penalty.has_value());
  EXPECT_GE(*row.penalty, 1);
  EXPECT_TRUE(row.penalty_from.starts_with("extrapolated")) << row.penalty_from;
}

TEST(Sites, GossipCostsNothingFromTheStepsOnThatItsSpectralGapTakes) {
  // [LAW-9] 22 B tokens in steps of 1 M are 20,981: beyond n³/gap² of a ring of 4 (gap 2/3: 144),
  // not of one of 32 neighbours apart by 0.0128 (2·10^8).
  SitesGiven given;
  given.extrapolate = true;
  given.sites = {"4,32"};
  given.methods = {"gossip"};
  given.bandwidths = {"10 Gb/s"};
  const auto answer = answer_sites(question_of(given));
  ASSERT_TRUE(answer.ok());
  const SiteTime& near = row_of(*answer, "gossip", 4, 10);
  ASSERT_TRUE(near.mixing.has_value());
  EXPECT_NEAR(near.mixing->gap, 2.0 / 3, 1e-12);
  EXPECT_NEAR(near.mixing->transient, 144, 1e-9);
  EXPECT_EQ(near.penalty, 1);
  const SiteTime& far = row_of(*answer, "gossip", 32, 10);
  EXPECT_GT(far.mixing->transient, 1e8);
  EXPECT_FALSE(far.penalty.has_value());
}

TEST(Sites, DilocosBestSettingsAreThoseOfThePublishedFits) {
  const auto answer = answer_sites(question_of());
  ASSERT_TRUE(answer.ok());
  const double n = answer->parameters;
  const auto at = std::find_if(answer->advice.begin(), answer->advice.end(),
                               [](const LocalUpdateAdvice& row) { return row.replicas == 4; });
  ASSERT_NE(at, answer->advice.end());
  EXPECT_NEAR(at->inner_rate, 4512.99 * std::pow(n, -0.789), 1e-9);
  EXPECT_NEAR(at->batch_ratio, 0.00535 * std::pow(n, 0.510) / (0.22592 * std::pow(n, 0.281)), 1e-6);
  EXPECT_EQ(at->outer_rate, 0.6);
}

TEST(Sites, MeetingRarelyPaysBelowABandwidthAtWhichBothAreAlike) {
  // Over a link whose latency does not cost synchronous training more than DiLoCo's tokens.
  SitesGiven given;
  given.latency = "10 us";
  const SitesQuestion question = question_of(given);
  const auto answer = answer_sites(question);
  ASSERT_TRUE(answer.ok());
  int found = 0;
  for (const PaysBelow& pays : answer->pays) {
    if (pays.everywhere || pays.nowhere) continue;
    SitesQuestion at = question;
    at.sites = {pays.sites};
    at.bandwidths = {pays.bandwidth * 0.9, pays.bandwidth * 1.1};
    const auto around = answer_sites(at);
    ASSERT_TRUE(around.ok());
    const auto time = [&](std::size_t method, double factor) {
      const Method& of = question.methods[method];
      return row_of(*around, of.is_synchronous() ? "synchronous" : of.row->name, pays.sites,
                    pays.bandwidth.value() * factor * 8 / 1e9)
          .time;
    };
    EXPECT_LT(time(pays.method, 0.9), time(0, 0.9));
    EXPECT_GT(time(pays.method, 1.1), time(0, 1.1));
    ++found;
  }
  EXPECT_GE(found, 1);
}

TEST(Sites, EverythingThatIsWrongIsSaidAtOnce) {
  SitesGiven given;
  given.fields = {{"model", "tinyllama-1.1b"},
                  {"cluster", "dgx-h100"},
                  {"gpus", "8"},
                  {"seq", "2048"},
                  {"global-batch", "512"}};
  given.sites = {"2,x"};
  given.bandwidths = {"10"};
  given.methods = {"gosip", "diloco:replicas=4", "synchronous"};
  given.penalties = {"eager-diloco=100"};
  given.latency = "-1 s";
  given.sync_every = 0;
  const auto wrong = read_sites_question(given);
  ASSERT_FALSE(wrong.ok());
  EXPECT_GE(wrong.problems().size(), 9U);  // tokens are missing, too
}

}  // namespace
}  // namespace headway

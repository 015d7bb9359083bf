#include "fit/serving/aims/aims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/document/document.hpp"

namespace headway {
namespace {

// 10, 20 and 30 % off, and far off where no aim of latency looks.
ServedReport three_latencies() {
  std::vector<ServedRow> rows(4);
  for (std::size_t i = 0; i < 3; ++i) {
    rows[i].source_key = i == 0 ? "optimus_nemo" : "another";
    rows[i].fits = true;
    rows[i].measured[kLatency] = 1;
    rows[i].predicted[kLatency] = 1.1 + 0.1 * static_cast<double>(i);
    rows[i].intervals[kLatency] = ServedBounds{0.5, i == 2 ? 0.9 : 1.5};
  }
  rows[3].source_key = "another";
  rows[3].fits = true;
  rows[3].measured[kFirstToken] = 1;
  rows[3].predicted[kFirstToken] = 9;
  return summarise_serving(rows);
}

const JudgedAim& aim_of(const std::vector<JudgedAim>& aims, const std::string& id,
                        const std::string& measure) {
  return *std::find_if(aims.begin(), aims.end(), [&](const JudgedAim& aim) {
    return aim.id == id && aim.measure == measure;
  });
}

TEST(ServedAims, AreHeldAgainstTheRowsThatTheyAreOf) {
  ASSERT_TRUE(served_aims());
  const auto aims = judged_aims(three_latencies(), *served_aims(), {});
  EXPECT_NEAR(*aim_of(aims, "latency", "median error").now, 0.2, 1e-12);
  EXPECT_EQ(aim_of(aims, "latency", "median error").rows, 3U);
  EXPECT_NEAR(*aim_of(aims, "optimus", "mean error").now, 0.1, 1e-12);
  EXPECT_NEAR(*aim_of(aims, "ttft", "median error").now, 8, 1e-12);
  EXPECT_FALSE(aim_of(aims, "ttft-below-80", "median error").now);  // of no capacity
  EXPECT_NEAR(*aim_of(aims, "inside-latency_s", "inside it").now, 2.0 / 3, 1e-12);
  EXPECT_NEAR(*aim_of(aims, "width-latency_s", "high over low, median").now, 3, 1e-12);
}

// Constants that saw a row's source say little of what they are worth.
TEST(ServedAims, AreMetByConstantsThatDidNotSeeTheSource) {
  ServedLeftOut left_out;
  left_out.errors.push_back({"latency", {7, 0.05, 0.06, 0.2, 0}, {7, 0.01, 0.02, 0.1, 0}});
  const auto aims = judged_aims(three_latencies(), *served_aims(), left_out);
  const JudgedAim& latency = aim_of(aims, "latency", "median error");
  EXPECT_EQ(latency.left_out_rows, 7U);
  EXPECT_EQ(latency.no_source, 0.05);
  EXPECT_EQ(latency.met(), true);
  EXPECT_EQ(aim_of(aims, "optimus", "mean error").met(), false);  // 10 % in the fit, aim 8
  EXPECT_FALSE(aim_of(aims, "ttft-below-80", "median error").met());
}

TEST(ServedAims, HaveErrorsOfWhatWasLeftOutForEach) {
  ASSERT_TRUE(served_left_out());
  std::set<std::string> names;
  for (const ServedAim& aim : served_aims()->aims) {
    EXPECT_TRUE(names.insert(aim.id).second) << aim.id;
    EXPECT_NE(served_left_out()->of(aim.id), nullptr) << aim.id;
  }
  EXPECT_FALSE(served_left_out()->held.empty());
}

TEST(ServedLeftOut, IsReadAsItIsWritten) {
  ServedLeftOut out;
  out.errors.push_back({"latency", {7, 0.05, 0.06, 0.2, -0.01}, {7, 0.01, 0.02, 0.1, 0.5}});
  out.held.push_back({"all", "latency_s", 7, 0.8, 0.4, 1.7});
  const auto document = parse_toml(to_toml(out, "2026-11-27"), "left_out.toml");
  ASSERT_TRUE(document);
  const auto read = served_left_out_from(*document);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->date, "2026-11-27");
  EXPECT_EQ(read->of("latency")->no_source.bias, -0.01);
  EXPECT_EQ(read->of("latency")->no_model.rows, 7U);
  EXPECT_EQ(read->of("nothing"), nullptr);
  EXPECT_EQ(read->held.at(0).inside_by_others, 0.4);
}

// Those of vLLM that say what their memory held; the others are told with how far they are off.
TEST(ServedAims, PublishedCachesArePredicted) {
  for (const PublishedCache& cache : served_aims()->caches) {
    const auto tokens = cache_predicted(cache);
    ASSERT_TRUE(tokens) << cache.source;
    if (cache.tp > 1) continue;
    EXPECT_NEAR(*tokens / cache.tokens, 1, served_aims()->cache_within) << cache.source;
  }
}

}  // namespace
}  // namespace headway

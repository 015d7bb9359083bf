#include "limits/search/search.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/divisors.hpp"
#include "limits/golden_for_test.hpp"

namespace headway::limits {
namespace {

constexpr Seconds kAnyTime{std::numeric_limits<double>::infinity()};

// Everything below walks all layouts one by one, by the rules of [LIMIT-17] alone: no bound, no
// order, no cache.
struct Found {
  Seconds time = kAnyTime, communication = kAnyTime;
  std::size_t layouts = 0;
};

// All ways to write `number` as an ordered product of `count` factors.
void each_product(std::int64_t number, std::size_t count, std::vector<std::int64_t>& factors,
                  const std::function<void()>& body) {
  if (count == 1) {
    factors.push_back(number);
    body();
    factors.pop_back();
    return;
  }
  for (std::int64_t factor = 1; factor <= number; ++factor) {
    if (number % factor != 0) continue;
    factors.push_back(factor);
    each_product(number / factor, count - 1, factors, body);
    factors.pop_back();
  }
}

void try_placements(const Setting& setting, const Shape& shape, std::int64_t gpus,
                    const std::vector<std::int64_t>& degrees, Layout layout, Found& found) {
  const std::size_t levels = setting.machine.levels.size();
  const auto domains = domains_in_use(setting.machine, gpus);
  Split* splits[] = {&layout.data, &layout.tensor_model, &layout.tensor_ff, &layout.pipeline,
                     &layout.expert};
  const std::function<void(std::size_t)> fill = [&](std::size_t level) {
    if (level == levels) {
      for (std::size_t kind = 0; kind < 5; ++kind) {
        if (splits[kind]->degree() != degrees[kind]) return;
      }
      if (!fits(setting, shape, gpus, degrees[0], loose_replicas(setting, layout.data))) return;
      ++found.layouts;
      const StepTimes step = step_times(setting, shape, layout);
      const Seconds communication = step.network.tensor + step.network.data + step.network.pipeline;
      if (step.total < found.time ||
          (step.total == found.time && communication < found.communication)) {
        found.time = step.total;
        found.communication = communication;
      }
      return;
    }
    std::vector<std::int64_t> factors;
    each_product(domains[level], 5, factors, [&] {
      for (std::size_t kind = 0; kind < 5; ++kind) splits[kind]->at[level] = factors[kind];
      fill(level + 1);
    });
  };
  fill(0);
}

void try_schedules(const Setting& setting, const Shape& shape, std::int64_t gpus,
                   const std::vector<std::int64_t>& degrees, Found& found) {
  const std::int64_t stages = degrees[3];
  const std::int64_t sequence_of_replica = shape.batch_tokens / (shape.experts * degrees[0]);
  for (const bool zero_bubble : {false, true}) {
    int taken = 0;
    for (std::int64_t micro = 1; micro <= sequence_of_replica; ++micro) {
      if (sequence_of_replica % micro != 0 || micro < (zero_bubble ? 2 : 1) * stages) continue;
      if (++taken > (zero_bubble ? 1 : 4)) break;
      Layout layout;
      layout.micro_batches = micro;
      layout.zero_bubble = zero_bubble;
      layout.interleave = !zero_bubble && stages > 1 ? shape.layers / stages : 1;
      try_placements(setting, shape, gpus, degrees, layout, found);
    }
  }
}

Found exhaustive(const Setting& setting, const Shape& shape, std::int64_t gpus) {
  Found found;
  const std::int64_t experts = std::gcd(gpus, shape.experts);
  std::vector<std::int64_t> of_rest;
  each_product(gpus / experts, 3, of_rest, [&] {
    const std::int64_t tensor = of_rest[0], data = of_rest[1], stages = of_rest[2];
    if (shape.d_model * shape.d_ff % tensor != 0 || shape.batch_tokens % data != 0) return;
    if (shape.layers % stages != 0) return;
    const auto root = static_cast<std::int64_t>(std::floor(std::sqrt(static_cast<double>(tensor))));
    for (std::int64_t ff = root; ff <= 4 * root; ++ff) {
      if (tensor % ff != 0 || shape.d_model % (tensor / ff) != 0 || shape.d_ff % ff != 0) continue;
      try_schedules(setting, shape, gpus, {data, tensor / ff, ff, stages, experts}, found);
    }
  });
  return found;
}

struct Case {
  const char* machine;
  std::int64_t d_model, gpus;
  bool sparse;
};

TEST(LimitsSearch, LIMIT_17_finds_what_trying_every_layout_finds) {
  // [LIMIT-17] Small models on small, slow clusters, so that every part of the step binds
  // somewhere; 72 GPUs for degrees that are no power of two, 3 levels for placements within
  // placements.
  const Case cases[] = {{"h100-sxm", 512, 8, false},       {"h100-sxm", 1024, 64, false},
                        {"h100-sxm", 2048, 96, false},     {"v100-sxm", 1024, 72, false},
                        {"h100-sxm", 1024, 48, true},      {"h100-global-nvlink", 1024, 256, false},
                        {"h100-superpod", 1024, 64, false}};
  for (const Case& c : cases) {
    for (const bool as_published : {true, false}) {
      for (const double slower : {1.0, 20.0}) {
        SCOPED_TRACE(std::string(c.machine) + " " + std::to_string(c.gpus));
        Setting setting = setting_on(machine_for_test(c.machine));
        setting.as_published = as_published;
        setting.batch = {.constant = true, .tokens = 9 * 65536};
        setting.sparsity = {.sparse = c.sparse, .experts = 6, .width = 1024, .exponent = 0};
        if (setting.machine.levels.size() == 3) {
          setting.machine.levels[0].size = 4;
          setting.machine.levels[1].size = 16;
        }
        for (Level& level : setting.machine.levels) {
          level.bandwidth /= slower;
          level.latency *= slower;
        }
        const Shape shape = shape_of(setting, c.d_model);
        const Found expected = exhaustive(setting, shape, c.gpus);
        const auto found = Search(setting, shape).fastest(c.gpus, kAnyTime);
        ASSERT_GT(expected.layouts, 50u);
        ASSERT_TRUE(found.has_value());
        EXPECT_LT(apart(found->step.total.value(), expected.time.value()), 1e-12);
        const NetworkTimes& network = found->step.network;
        EXPECT_LE((network.tensor + network.data + network.pipeline).value(),
                  expected.communication.value() * (1 + 1e-9) + 1e-15);
        EXPECT_EQ(found->layout.gpus(), c.gpus);
      }
    }
  }
}

TEST(LimitsSearch, LIMIT_37_what_must_cross_a_far_level_drops_no_layout_that_is_best) {
  // [LIMIT-37] Two and four distant sites of small nodes, where each degree in turn is the cheapest
  // to cross with: as found by trying everything.
  for (const double bandwidth : {1e7, 1e9, 1e11}) {
    for (const double latency : {1e-6, 1e-4, 1e-2}) {
      for (const auto& [d_model, gpus, sites, sparse] :
           {std::tuple(1024, 64, 4, false), std::tuple(2048, 32, 2, false),
            std::tuple(1024, 48, 2, true)}) {
        SCOPED_TRACE(std::to_string(bandwidth) + " " + std::to_string(latency) + " " +
                     std::to_string(gpus));
        Setting setting = setting_on(machine_for_test("h100-sxm"));
        setting.batch = {.constant = true, .tokens = 9 * 65536};
        setting.sparsity = {.sparse = sparse, .experts = 6, .width = 1024, .exponent = 0};
        setting.machine.levels[0].size = 4;
        setting.machine.levels.push_back({"site", 0, BytesPerSecond(bandwidth), Seconds(latency)});
        setting.machine.sites = sites;
        const Shape shape = shape_of(setting, d_model);
        const Found expected = exhaustive(setting, shape, gpus);
        const auto found = Search(setting, shape).fastest(gpus, kAnyTime);
        ASSERT_TRUE(found.has_value());
        EXPECT_LT(apart(found->step.total.value(), expected.time.value()), 1e-12);
      }
    }
  }
}

TEST(LimitsSearch, LIMIT_27_memory_of_replicas_that_meet_rarely_is_judged_as_they_are_placed) {
  // [LIMIT-27] Room for few groups of replicas that differ: where they lie decides what fits. On
  // the outermost level, on the two outer ones, on all.
  Setting setting = setting_on(machine_for_test("h100-superpod"));
  setting.batch = {.constant = true, .tokens = 9 * 65536};
  setting.machine.levels[0].size = 4;
  setting.machine.levels[1].size = 16;
  for (Level& level : setting.machine.levels) level.bandwidth /= 20;
  setting.relaxation.sync_every = 100;
  const Shape shape = shape_of(setting, 1024);
  constexpr std::int64_t kGpus = 64;
  for (const std::size_t loose_level : {2U, 1U, 0U}) {
    SCOPED_TRACE(loose_level);
    setting.relaxation.loose_level = loose_level;
    setting.machine.gpu.memory = Bytes(40 * 2 * shape.parameters / kGpus);  // 40 copies
    const Found expected = exhaustive(setting, shape, kGpus);
    const auto found = Search(setting, shape).fastest(kGpus, kAnyTime);
    ASSERT_TRUE(found.has_value());
    EXPECT_LT(apart(found->step.total.value(), expected.time.value()), 1e-12);
    EXPECT_TRUE(fits(setting, shape, kGpus, found->layout.data.degree(),
                     loose_replicas(setting, found->layout.data)));
  }
}

TEST(LimitsSearch, a_limit_on_the_duration_never_changes_what_is_found) {
  const Setting setting = setting_on(machine_for_test("h100-sxm"));
  const Shape shape = shape_of(setting, 16384);
  const auto free = Search(setting, shape).fastest(8192, kAnyTime);
  ASSERT_TRUE(free.has_value());
  const auto capped = Search(setting, shape).fastest(8192, free->duration * 1.0001);
  ASSERT_TRUE(capped.has_value());
  EXPECT_EQ(capped->step.total, free->step.total);
  EXPECT_FALSE(Search(setting, shape).fastest(8192, free->duration * 0.9999).has_value());
}

TEST(LimitsSearch, a_better_machine_is_never_worse) {
  const std::function<void(Setting&)> better[] = {
      [](Setting& s) { s.machine.levels[0].bandwidth *= 2; },
      [](Setting& s) { s.machine.levels[1].bandwidth *= 2; },
      [](Setting& s) { s.machine.levels[0].latency /= 2; },
      [](Setting& s) { s.machine.levels[1].latency /= 2; },
      [](Setting& s) { s.machine.gpu.kernel_latency /= 2; },
      [](Setting& s) { s.machine.gpu.memory_bandwidth *= 2; },
      [](Setting& s) { s.machine.gpu.memory *= 2; },
      [](Setting& s) { s.steps_between_syncs = 10; },
      [](Setting& s) { s.overlap.data = true; }};
  for (const bool sparse : {false, true}) {
    Setting setting = setting_on(machine_for_test("h100-sxm"));
    setting.sparsity.sparse = sparse;
    for (const std::int64_t d_model : {12288, 53248, 114688}) {
      const Shape shape = shape_of(setting, d_model);
      const auto before = Search(setting, shape).smallest_cluster();
      ASSERT_TRUE(before.has_value());
      for (const auto& improve : better) {
        Setting improved = setting;
        improve(improved);
        const auto after = Search(improved, shape).fastest(before->gpus, kAnyTime);
        ASSERT_TRUE(after.has_value());
        EXPECT_LE(after->step.total.value(), before->step.total.value() * (1 + 1e-12));
      }
    }
  }
}

TEST(LimitsSearch, divisors_are_all_and_in_order) {
  for (std::int64_t number = 0; number < 400; ++number) {
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 1; i <= number; ++i) {
      if (number % i == 0) expected.push_back(i);
    }
    EXPECT_EQ(divisors(number), expected) << number;
  }
}

}  // namespace
}  // namespace headway::limits

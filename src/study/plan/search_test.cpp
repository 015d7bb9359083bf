#include "study/plan/search.hpp"

#include <cmath>

#include "study/plan/case_for_test.hpp"

namespace headway {
namespace {

using testing::all_points;
using testing::Case;
using testing::plan_case;
using testing::PlanCase;
using testing::price_all;
using testing::pricer_of_all;
using testing::random_plan_case;

// What must fit by a forecast: all but the gaps that the allocator can give back.
Bytes live(const Forecast& forecast) {
  return forecast.memory.total() - forecast.gaps;
}

// [PLAN-2]
RC_GTEST_PROP(PlanPrice, is_the_forecast_of_every_layout, ()) {
  const PlanCase c = random_plan_case();
  PlanCounts counts;
  const auto points = all_points(c.question(), counts);
  RC_ASSERT(counts.total() == c.space->size());
  RC_ASSERT(counts.fitting == points.size());
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t index = *rc::gen::inRange<std::uint64_t>(0, c.space->size());
    Case run = c.run;
    run.layout = c.space->layout_at(index);
    const auto found = points.find(index);
    if (!run.legal()) {
      RC_ASSERT(found == points.end());
      continue;
    }
    const Forecast forecast = run.priced();
    RC_ASSERT((found != points.end()) == (live(forecast) <= c.question().allowed_memory()));
    if (found == points.end()) continue;
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); };
    RC_ASSERT(near(found->second.time.value(), forecast.step_time.value()));
    RC_ASSERT(near(found->second.memory.value(), live(forecast).value()));
    RC_ASSERT(near(found->second.energy.value(), forecast.energy.value()));
  }
}

// A factor of low rank has the shape of the matrix that it stands for, which a search must know.
TEST(PlanPrice, of_gradients_sent_as_factors_is_the_forecast) {
  PlanCase c = plan_case("gpt-neox-1.3b", "frontier", 6, *framework_from("megatron"), 12, 2048);
  c.run.job.method = method_from("powersgd", FieldName("method")).value();
  c.space = PlanSpace::make(c.run, c.ranks);
  PlanCounts counts;
  const auto points = all_points(c.question(), counts);
  ASSERT_GT(points.size(), 50u);
  for (const auto& [index, point] : points) {
    Case run = c.run;
    run.layout = c.space->layout_at(index);
    const double forecast = run.priced().step_time.value();
    EXPECT_NEAR(point.time.value() / forecast, 1, 1e-12) << flags_of(run);
  }
}

// [PLAN-3]
RC_GTEST_PROP(PlanPrice, no_layout_is_under_the_floor_of_its_cell, ()) {
  const PlanCase c = random_plan_case();
  const PlanQuestion question = c.question();
  PlanPricer pricer = pricer_of_all(question);
  const auto cells = question.space.cells();
  for (int i = 0; i < 20; ++i) {
    const PlanCell& cell = cells[*rc::gen::inRange<std::size_t>(0, cells.size())];
    const PlanFloor quick = pricer.quick_floor(cell);
    const Seconds floor = pricer.floor(cell);
    RC_ASSERT(quick.time > Seconds(0));
    RC_ASSERT(floor >= quick.time);
    price_all(pricer, cell, [&](const PlanPoint& point) {
      RC_ASSERT(point.time >= floor);
      RC_ASSERT(point.memory >= quick.memory);
    });
  }
}

bool same(const std::vector<PlanPoint>& a, const std::vector<PlanPoint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PlanPoint& x, const PlanPoint& y) {
                      return x.index == y.index && x.time == y.time && x.memory == y.memory;
                    });
}

RC_GTEST_PROP(PlanSearch, finds_what_pricing_everything_finds, ()) {
  const PlanCase c = random_plan_case();
  PlanSearch how;
  how.objective = static_cast<PlanObjective>(*rc::gen::inRange(0, 3));
  how.top = *rc::gen::element<std::size_t>(1, 5);
  const PlanBest quick = search(c.question(), how);
  how.exhaustive = true;
  const PlanBest all = search(c.question(), how);
  RC_ASSERT(quick.proven && all.proven);
  RC_ASSERT(quick.counts.total() == c.space->size());
  RC_ASSERT(all.counts.total() == c.space->size());
  RC_ASSERT(same(quick.points, all.points));
}

// Floors serve every question for which they are floors: here all those that follow a plan.
RC_GTEST_PROP(PlanSearch, with_known_floors_finds_what_pricing_everything_finds, ()) {
  const PlanCase c = random_plan_case();
  const PlanQuestion base = c.question();
  const PlanFloors floors(base, 1);
  Run slower = c.run, endless = c.run;
  for (FlopsPerSecond& peak : slower.cluster.accelerator.peak) peak = peak * 0.5;
  slower.cluster.accelerator.memory = slower.cluster.accelerator.memory * 0.9;
  for (Level& level : slower.cluster.levels) level.bandwidth = level.bandwidth * 0.5;
  endless.cluster.accelerator.memory = Bytes(1e18);
  PlanSearch how, all;
  all.exhaustive = true;
  const auto agree = [&](const PlanQuestion& question) {
    const PlanBest quick = search(question, floors, how);
    RC_ASSERT(quick.proven);
    RC_ASSERT(same(quick.points, search(question, all).points));
  };
  if (*rc::gen::arbitrary<bool>()) {
    agree({slower, base.calibration, base.space, base.headroom});
  } else {
    agree({endless, base.calibration, base.space});
  }
}

// Several look for something else in one walk, some of them knowing a layout already: each finds
// what is there by the definition of what he looks for.
RC_GTEST_PROP(PlanSearch, finds_for_each_limit_the_best_that_passes_it, ()) {
  const PlanCase c = random_plan_case();
  const PlanQuestion question = c.question();
  const PlanFloors floors(question, 1);
  PlanSearch how;
  how.objective = static_cast<PlanObjective>(*rc::gen::inRange(0, 3));
  how.threads = *rc::gen::inRange(1, 3);
  PlanWish wish;
  wish.limits = {PlanLimit{},
                 PlanLimit{plan_field("tp"), 1},
                 PlanLimit{plan_field("recompute"), 0},
                 PlanLimit{plan_field("zero"), 0},
                 PlanLimit{plan_field("vpp"), 1},
                 PlanLimit{plan_field("micro-batch"), 1, true},
                 PlanLimit{plan_field("ep"), 1}};
  wish.front = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) wish.known = search(question, floors, how).points;
  const PlanFound found = find(question, floors, wish, how);
  RC_ASSERT(found.proven);
  RC_ASSERT(found.counts.total() == c.space->size());
  PlanCounts counts;
  const auto points = all_points(question, counts);
  for (std::size_t i = 0; i < wish.limits.size(); ++i) {
    std::optional<PlanPoint> best;
    for (const auto& [index, point] : points) {
      if (!wish.limits[i].passes(question.space.layout_at(index))) continue;
      if (!best || better(point, *best, how.objective)) best = point;
    }
    RC_ASSERT(found.best[i].has_value() == best.has_value());
    if (best) RC_ASSERT(found.best[i]->index == best->index);
  }
}

std::vector<PlanPoint> front_of(const PlanQuestion& question, const PlanSearch& how) {
  return find(question, PlanFloors(question, how.threads), {.limits = {}, .front = true}, how)
      .front;
}

RC_GTEST_PROP(PlanSearch, answers_the_same_on_any_number_of_threads, ()) {
  const PlanCase c = random_plan_case();
  PlanSearch how;
  how.top = 5;
  const PlanBest one = search(c.question(), how);
  how.threads = 2;
  RC_ASSERT(same(one.points, search(c.question(), how).points));
  const auto front = front_of(c.question(), how);
  how.threads = 1;
  RC_ASSERT(same(front, front_of(c.question(), how)));
}

// By its definition, over all points.
RC_GTEST_PROP(PlanSearch, its_front_is_what_nothing_beats, ()) {
  const PlanCase c = random_plan_case();
  PlanCounts counts;
  const auto points = all_points(c.question(), counts);
  const std::vector<PlanPoint> front = front_of(c.question(), {});
  RC_ASSERT(front.empty() == points.empty());
  for (const auto& [index, point] : points) {
    const bool covered = std::any_of(front.begin(), front.end(), [&](const PlanPoint& on) {
      return on.time <= point.time && on.memory <= point.memory;
    });
    RC_ASSERT(covered);
  }
  for (std::size_t i = 1; i < front.size(); ++i) {
    RC_ASSERT(front[i - 1].time < front[i].time);
    RC_ASSERT(front[i - 1].memory > front[i].memory);
  }
}

TEST(PlanSearch, of_equal_layouts_takes_the_lowest_index) {
  const PlanPoint a{.index = 3, .time = Seconds(1), .memory = Bytes(2), .energy = {}};
  const PlanPoint b{.index = 4, .time = Seconds(1), .memory = Bytes(1), .energy = {}};
  EXPECT_TRUE(better(a, b, PlanObjective::time));
  EXPECT_FALSE(better(b, a, PlanObjective::time));
  EXPECT_TRUE(better(b, a, PlanObjective::memory));
}

TEST(PlanSearch, stopped_says_that_its_answer_is_not_proven) {
  const PlanCase c =
      plan_case("llama-2-7b", "dgx-h100", 32, framework_from("megatron").value(), 64);
  PlanSearch how;
  how.progress = [](std::size_t done, std::size_t) { return done < 3; };
  const PlanBest best = search(c.question(), how);
  EXPECT_FALSE(best.proven);
}

TEST(PlanSearch, stopped_at_once_still_gives_a_layout) {
  const PlanCase c =
      plan_case("llama-2-7b", "dgx-h100", 32, framework_from("megatron").value(), 64);
  PlanSearch how;
  how.progress = [](std::size_t, std::size_t) { return false; };
  const PlanBest best = search(c.question(), how);
  EXPECT_FALSE(best.proven);
  EXPECT_FALSE(best.points.empty());
}

}  // namespace
}  // namespace headway

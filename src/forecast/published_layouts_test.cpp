// What Hagemann et al. (arXiv 2311.05610) found of Llama's 13, 30 and 65 B parameters on 64 to 256
// A100 80 GB at 2,048 and 8,192 tokens, 4 M tokens a step, asked of the model: which layouts are
// best, not how fast they are. With their software: flash attention 2, fused norms, 16-bit
// gradients, ZeRO-1, 1F1B, no tensor-parallel call under split products.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

struct Shape {
  const char* model;
  std::int64_t gpus, sequence;
};
constexpr Shape kShapes[] = {{"llama-13b", 64, 2048},  {"llama-13b", 128, 8192},
                             {"llama-30b", 256, 2048}, {"llama-30b", 128, 8192},
                             {"llama-65b", 128, 2048}, {"llama-65b", 128, 8192}};

struct Timed {
  Layout layout;
  double seconds;
};

Case case_for(const Shape& shape) {
  Case c = testing::case_of(shape.model, "dgx-a100-80gb");
  c.model.vocabulary = 128'000;
  c.job.framework = framework_from("megatron").value();
  c.job.software = 2023.75;
  c.job.attention = AttentionKernel::flash2;
  c.job.small_gradients = true;
  c.job.sequence = shape.sequence;
  c.job.global_batch = 4'194'304 / shape.sequence;
  c.calibration = calibration_for(c.cluster, c.job.software).value();
  return c;
}

// Every layout of the study that fits, the fastest first.
std::vector<Timed> layouts(const Shape& shape, bool split_norms = true) {
  Case c = case_for(shape);
  std::vector<Timed> out;
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    for (const std::int64_t pp : {1, 2, 4, 8}) {
      for (const std::int64_t micro_batch : {1, 2, 4, 8}) {
        for (const Recompute recompute : {Recompute::none, Recompute::full}) {
          c.layout = {{.tp = tp, .micro_batch = micro_batch, .sequence_parallel = split_norms},
                      {.pp = pp},
                      {.dp = shape.gpus / tp / pp, .zero = 1},
                      {.recompute = recompute}};
          if (!c.legal()) continue;
          const Forecast f = c.priced();
          if (f.fits) out.push_back({c.layout, f.step_time.value()});
        }
      }
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; });
  return out;
}

template <class Wanted>
const Timed* best_of(const std::vector<Timed>& timed, Wanted wanted) {
  const auto found = std::find_if(timed.begin(), timed.end(),
                                  [&](const Timed& one) { return wanted(one.layout); });
  return found == timed.end() ? nullptr : &*found;
}

// "A micro-batch of 1 is best." Without split norms, which they advise for long sequences only, it
// is in all six, the nearest two by a hair; with them at 2,048 tokens larger ones under more tensor
// parallelism gain up to 3 %.
TEST(PublishedLayouts, AMicroBatchOfOneIsBestOrAlmost) {
  const auto one = [](const Layout& l) { return l.micro_batch == 1; };
  const auto more = [](const Layout& l) { return l.micro_batch > 1; };
  for (const Shape& shape : kShapes) {
    for (const auto& [split_norms, tolerance] : {std::pair(false, 1.01), std::pair(true, 1.04)}) {
      const std::vector<Timed> all = layouts(shape, split_norms);
      const Timed* best = best_of(all, one);
      const Timed* other = best_of(all, more);
      ASSERT_TRUE(best != nullptr && other != nullptr) << shape.model;
      EXPECT_LE(best->seconds, tolerance * other->seconds) << shape.model << " " << shape.sequence;
      if (shape.sequence == 8192) {
        EXPECT_LT(best->seconds, other->seconds) << shape.model;
      }
    }
  }
  const std::vector<Timed> small = layouts(kShapes[0], false);
  EXPECT_EQ(small[0].layout.tp * small[0].layout.pp * small[0].layout.micro_batch, 1);
}

// "Rather split the model further than recompute."
TEST(PublishedLayouts, RecomputationIsNeverBest) {
  for (const Shape& shape : kShapes) {
    const std::vector<Timed> all = layouts(shape);
    const Timed* again =
        best_of(all, [](const Layout& l) { return l.recompute == Recompute::full; });
    ASSERT_NE(again, nullptr) << shape.model;
    EXPECT_GT(again->seconds, 1.15 * all[0].seconds) << shape.model << " " << shape.sequence;
  }
}

// "Pipeline before tensor parallelism": at 2,048 tokens and a micro-batch of 1, of two layouts with
// as many ranks for a copy of the model. At 8,192 tokens a rank has 2 to 16 micro-batches only, and
// here the bubble costs more than the calls.
TEST(PublishedLayouts, PipelineParallelismCostsNoMoreThanTensorParallelism) {
  const auto seconds = [](const Shape& shape, std::int64_t tp, std::int64_t pp) {
    const std::vector<Timed> all = layouts(shape, false);
    const Timed* found = best_of(all, [&](const Layout& l) {
      return l.tp == tp && l.pp == pp && l.micro_batch == 1 && l.recompute == Recompute::none;
    });
    return found == nullptr ? 0 : found->seconds;
  };
  EXPECT_LT(seconds(kShapes[0], 1, 2), 1.02 * seconds(kShapes[0], 2, 1));
  EXPECT_LT(seconds(kShapes[0], 1, 4), seconds(kShapes[0], 4, 1));
  EXPECT_LT(seconds(kShapes[0], 1, 8), 0.95 * seconds(kShapes[0], 8, 1));
  EXPECT_LT(seconds(kShapes[2], 1, 4), 1.02 * seconds(kShapes[2], 4, 1));
  EXPECT_LT(seconds(kShapes[4], 2, 4), 0.99 * seconds(kShapes[4], 4, 2));
  EXPECT_LT(seconds(kShapes[4], 4, 2), 0.95 * seconds(kShapes[4], 8, 1));
}

// "Sequence parallelism for models above 30 B and sequences above 2,048 tokens": there it saves the
// memory that less tensor parallelism takes; elsewhere, at a micro-batch of 1, nothing. 30 B at
// 2,048 tokens are on the edge of memory either way.
TEST(PublishedLayouts, SequenceParallelismPaysForLargeModelsAndLongSequences) {
  for (const Shape& shape : kShapes) {
    if (shape.gpus == 256) continue;
    const auto one = [](const Layout& l) { return l.micro_batch == 1; };
    const double with = best_of(layouts(shape, true), one)->seconds;
    const double without = best_of(layouts(shape, false), one)->seconds;
    const bool large = shape.sequence == 8192 && shape.model != std::string_view("llama-13b");
    if (large) {
      EXPECT_LT(with, 0.97 * without) << shape.model;
    } else {
      EXPECT_NEAR(with / without, 1, 0.01) << shape.model << " " << shape.sequence;
    }
  }
}

// Why `plan` proposes otherwise for Megatron-LM today: it hides tensor-parallel calls under split
// products, and its gradients in fp32 do not leave room for 13 B parameters on one accelerator.
TEST(PublishedLayouts, SplitProductsAndGradientsInFp32AreWhatPrefersLargerMicroBatches) {
  Case c = case_for(kShapes[0]);
  c.layout = {{}, {}, {.dp = 64, .zero = 1}};
  ASSERT_TRUE(c.legal());
  EXPECT_TRUE(c.priced().fits);
  const double alone = c.priced().step_time.value();
  c.job.small_gradients = false;
  EXPECT_FALSE(c.priced().fits);
  c.layout = {{.tp = 2, .micro_batch = 4}, {}, {.dp = 32, .zero = 1}};
  ASSERT_TRUE(c.legal());
  const double bare = c.priced().step_time.value();
  EXPECT_TRUE(c.priced().fits);
  c.layout.overlap_tensor = Choice::on;
  ASSERT_TRUE(c.legal());
  EXPECT_GT(bare, alone);
  EXPECT_LT(c.priced().step_time.value(), 0.995 * bare);
}

}  // namespace
}  // namespace headway::testing

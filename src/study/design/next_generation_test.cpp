#include <gtest/gtest.h>

#include "study/design/design.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

// A generation of accelerators with the rates of the next, and the cluster of
// the next itself.
struct Generation {
  const char *cluster, *next;
  std::vector<std::string> rates;
};
const Generation kGenerations[] = {
    {"dgx-a100-80gb", "dgx-h100", {"bandwidth=3352GB/s", "peak=989.4TFLOP/s", "link=nvlink4"}},
    {"dgx-h100", "dgx-b200", {"bandwidth=7672GB/s", "peak=2250TFLOP/s", "link=nvlink5"}}};

std::vector<DesignTime> times_of(const DesignWorkload& workload,
                                 const std::vector<std::string>& rates) {
  return make_design(workload, *read_axes(rates, workload), {})->points[0].times;
}

DesignWorkload served_on(const char* cluster, std::int64_t batch) {
  return serving_workload(testing::serving_of("llama-2-70b", cluster, 8),
                          {.input = 1000, .output = 500, .batch = batch});
}

DesignWorkload trained_on(const char* cluster) {
  return training_workload(*make_run({{"model", "llama-2-70b"},
                                      {"cluster", cluster},
                                      {"gpus", "64"},
                                      {"seq", "4096"},
                                      {"global-batch", "128"},
                                      {"tp", "8"},
                                      {"pp", "2"}}));
}

// What a study of technology is asked: a machine with the rates of one that
// came later takes what that one does, whose kernels' constants were measured,
// within 17 %.
constexpr double kWithin = 0.17;
TEST(NextGeneration, IsForetoldByItsRates) {
  for (const Generation& of : kGenerations) {
    for (const std::int64_t batch : {1, 16, 64}) {
      const DesignWorkload itself = served_on(of.next, batch);
      const auto foretold = times_of(served_on(of.cluster, batch), of.rates);
      const auto measured = (*itself.with_constants_of(itself.base))(itself.base).times;
      for (std::size_t i = 0; i < measured.size(); ++i) {
        EXPECT_NEAR(foretold[i].time / measured[i], 1, kWithin)
            << of.next << " " << batch << " " << itself.times[i];
      }
    }
    const DesignWorkload itself = trained_on(of.next);
    std::vector<std::string> rates = of.rates;
    rates.emplace_back("network=ib-ndr");
    const auto foretold = times_of(trained_on(of.cluster), rates);
    const auto measured = (*itself.with_constants_of(itself.base))(itself.base).times;
    EXPECT_NEAR(foretold[0].time / measured[0], 1, kWithin) << of.next;
  }
}

}  // namespace
}  // namespace headway

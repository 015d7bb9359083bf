// Serving: every way in closed form.
#include <benchmark/benchmark.h>

#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/search/ways.hpp"

namespace headway {
namespace {

// [INFER-30] Llama 3 70B on eight H100, by one thread; items: ways.
void ways_in_closed_form(benchmark::State& state) {
  Serving serving;
  serving.model = *load_model("llama-3-70b");
  serving.cluster = *load_cluster("dgx-h100");
  serving.engine = engines()->front();
  set_weights(serving, "bf16");
  const ServingConstants constants = *serving_constants(serving.cluster);
  const Load asked{.input = 1000, .output = 500};
  std::size_t ways = 0;
  for (auto _ : state) ways += ways_of_serving(serving, constants, asked, {}, 8, 1, {})->size();
  state.SetItemsProcessed(static_cast<std::int64_t>(ways));
}
BENCHMARK(ways_in_closed_form)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway

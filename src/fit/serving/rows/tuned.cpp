// Rows of benchmarks whose runs are tuned: what they ask, of the best way that there is.
#include <algorithm>
#include <utility>

#include "fit/serving/rows/row.hpp"

namespace headway::serving_rows {

using serving_words::Benchmark;
using serving_words::Limits;
using serving_words::TunedBy;

const Benchmark* benchmark_of(const RowText& text, const serving_words::Words& words) {
  if (!text.row.source_key.starts_with(words.tuned.source)) return nullptr;
  const auto& all = words.tuned.benchmarks;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Benchmark& benchmark) {
    return text.said.starts_with(benchmark.has);
  });
  return found != all.end() ? &*found : nullptr;
}

const TunedBy* tuned_by(const serving_words::Words& words, const Accelerator& accelerator) {
  const auto& all = words.tuned.by;
  const auto found = std::find_if(all.begin(), all.end(), [&](const TunedBy& by) {
    return by.architecture == accelerator.architecture;
  });
  return found != all.end() ? &*found : nullptr;
}

std::shared_ptr<const TunedServing> tuned_of(RowText& text, Loaded& loaded, Serving serving,
                                             const Benchmark& benchmark) {
  const serving_words::TunedRows& tuned = loaded.words.tuned;
  const bool offline = text.says(tuned.offline), interactive = text.says(tuned.interactive);
  const std::optional<Limits>& limits = interactive ? benchmark.interactive : benchmark.server;
  if (!offline && !limits) text.cells.skip("its benchmark's limits are not known");
  if (!text.cells.sound()) return nullptr;
  auto constants = constants_of(text, loaded, serving.cluster);
  if (constants == nullptr) return nullptr;
  // At the load that was measured, which is another than the most that is predicted.
  for (const std::size_t quantity : {kFirstToken, kEachToken, kLatency}) {
    text.row.measured[quantity].reset();
  }
  for (const auto* cell : {"input_len", "output_len", "tp", "batch"}) text.assume(cell, "tuned");
  text.row.precision = weights_name(serving);
  text.row.load = "tuned";
  const std::int64_t accelerators = serving.dp;
  std::shared_ptr<const TunedServing>& same =
      loaded.tuned[text.row.machine + ' ' + text.row.model + ' ' + serving.cache->name + ' ' +
                   text.row.engine + ' ' + std::to_string(accelerators) + ' ' + benchmark.has +
                   (offline       ? " offline"
                    : interactive ? " interactive"
                                  : "")];
  if (same != nullptr) return same;
  serving.engine.memory = tuned.policy.memory;
  serving.engine.policy.reserve = serving.engine.policy.whole_prompts = false;
  Load load;
  load.input = benchmark.input;
  load.output = benchmark.output;
  load.input_spread = {LengthSpread::Kind::log_normal, benchmark.input_spread};
  load.output_spread = {LengthSpread::Kind::log_normal, benchmark.output_spread};
  load.longest = benchmark.longest;
  if (!offline) {
    load.first_limit = limits->first_token;
    load.each_limit = limits->each_token;
  }
  return same = std::make_shared<const TunedServing>(AskedServing{.serving = std::move(serving),
                                                                  .apart = {},
                                                                  .load = std::move(load),
                                                                  .constants = std::move(constants),
                                                                  .fitted = false,
                                                                  .at_capacity = offline},
                                                     accelerators, tuned.policy.most_tokens,
                                                     offline ? 0 : tuned.share);
}

}  // namespace headway::serving_rows

// Times of stages and measured passes: any text becomes times that can be placed, or problems.
#include <cstdlib>

#include "simulate/live/check.hpp"
#include "simulate/live/of_recording.hpp"
#include "simulate/pipeline/stages.hpp"
#include "simulate/recorded/recording.hpp"
#include "simulate/replay/replay.hpp"
#include "targets.hpp"
#include "trace/open.hpp"

namespace headway::fuzz {

void stages(std::string_view text) {
  const auto table = parse_csv(text, "stages.csv");
  if (!table) return;
  for (const std::optional<std::int64_t> count :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>(4)}) {
    const auto read = read_stages(*table, count);
    if (!read) {
      if (read.problems().empty()) std::abort();
      continue;
    }
    if (count && static_cast<std::int64_t>(read->size()) != *count) std::abort();
    for (const ChunkTime& chunk : *read) {
      const bool positive = chunk.forward > Seconds(0) && chunk.weight_gradient >= Seconds(0) &&
                            chunk.backward >= chunk.weight_gradient;
      if (!positive) std::abort();
    }
  }
}

void replay_ops(std::string_view text) {
  const auto table = parse_csv(text, "ops.csv");
  if (!table) return;
  const auto measured = read_ops(*table);
  if (!measured) {
    if (measured.problems().empty()) std::abort();
    return;
  }
  const Replay found = replay(*measured);
  const auto workers = static_cast<std::int64_t>(found.slowdown_without_worker.size());
  if (workers != static_cast<std::int64_t>(found.dp_ranks.size()) * found.stages) std::abort();
  if (found.pipelines.empty() || !(found.slowdown > 0)) std::abort();
  for (const ReplayedPipeline& pipeline : found.pipelines) {
    if (!(pipeline.span > Seconds(0))) std::abort();
  }
}

// Any trace is run again, as it was and on a switch, or is refused.
void recording(std::string_view bytes) {
  const auto read = read_trace_bytes(bytes, "fuzzed.0.et");
  if (!read) return;
  const auto list = list_of_recording(*read);
  if (list ? !list_problems(*list).empty() : list.problems().empty()) std::abort();
  OtherNetwork other;
  other.links = network::LinksQuestion{
      network::one_switch(8, {{BytesPerSecond(1e9)}, {Seconds(1e-6)}}), {.algorithm = "ring"}};
  for (const auto& network : {std::optional<OtherNetwork>(), std::optional(other)}) {
    const auto simulated = simulate_recording(*read, network);
    if (!simulated) {
      if (simulated.problems().empty()) std::abort();
      continue;
    }
    if (simulated->own && !(*simulated->own >= Seconds(0))) std::abort();
    if (network && !(*simulated->simulated >= Seconds(0))) std::abort();
  }
}

}  // namespace headway::fuzz

#include "report/simulate/pipeline.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "report/simulate/lists.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostRows = 64;

std::string heading(const Pipeline& pipeline) {
  std::string out = std::string(kScheduleNames[static_cast<std::size_t>(pipeline.schedule)]);
  if (pipeline.virtual_stages > 1) {
    out += ", " + std::to_string(pipeline.virtual_stages) + " chunks a rank,";
  }
  return out + " on " + count_text(static_cast<double>(pipeline.ranks)) + " ranks, " +
         count_text(static_cast<double>(pipeline.micro_batches)) + " micro-batches\n";
}

// Both where they differ: until the input gradient, until the weight gradient.
std::string peak_text(const SimulatedPipeline& simulated, std::size_t rank) {
  const std::int64_t until_weight = simulated.peak_in_flight[rank];
  const std::int64_t until_input = simulated.peak_until_input_gradient[rank];
  const std::string out = std::to_string(until_weight);
  return until_input == until_weight ? out : std::to_string(until_input) + " / " + out;
}

}  // namespace

std::string simulate_pipeline_text(const SimulatedPipeline& simulated) {
  const Seconds longest = *std::max_element(simulated.spans.begin(), simulated.spans.end());
  Seconds idle(0);
  for (const Seconds each : simulated.idle) idle += each;
  idle /= static_cast<double>(simulated.idle.size());
  std::string out = heading(simulated.of.pipeline) + "\n";
  out += aligned({{"makespan", to_text(simulated.makespan)},
                  {"longest span of a rank", to_text(longest)},
                  {"idle in the mean", to_text(idle), percent_text(idle / simulated.makespan)}});
  std::vector<std::vector<std::string>> rows = {{"  rank", "span", "idle", "peak in flight"}};
  const std::size_t shown = std::min(simulated.spans.size(), kMostRows);
  for (std::size_t r = 0; r < shown; ++r) {
    rows.push_back({"  " + std::to_string(r), to_text(simulated.spans[r]),
                    to_text(simulated.idle[r]), peak_text(simulated, r)});
  }
  out += "\n" + aligned(rows);
  if (shown < simulated.spans.size()) {
    out += "  and " + std::to_string(simulated.spans.size() - shown) + " more; --json has all\n";
  }
  return out;
}

std::string simulate_pipeline_json(const SimulatedPipeline& simulated) {
  const Pipeline& pipeline = simulated.of.pipeline;
  JsonWriter out;
  out.begin_object();
  out.member("schedule", kScheduleNames[static_cast<std::size_t>(pipeline.schedule)]);
  out.member("pp", pipeline.ranks);
  out.member("vpp", pipeline.virtual_stages);
  out.member("micro_batches", pipeline.micro_batches);
  out.member("makespan_s", simulated.makespan.value());
  list(out, "spans_s", simulated.spans);
  list(out, "idle_s", simulated.idle);
  list(out, "peak_in_flight", simulated.peak_in_flight);
  list(out, "peak_in_flight_until_input_gradient", simulated.peak_until_input_gradient);
  list(out, "order", simulated.orders);
  out.end_object();
  return out.take();
}

}  // namespace headway

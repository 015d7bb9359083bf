#include "report/comms_clusters.hpp"

#include "report/json/run.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

Json cluster_json(const CallsOnCluster& run) {
  const ExpectedCalls& e = *run.calls;
  const std::vector<TrafficCall> calls = calls_of_mean_rank(e.traffic);
  const TrafficSum all = sum_of(calls);
  Json levels = Json::object();
  for (std::size_t i = 0; i < e.run.cluster.levels.size(); ++i) {
    Bytes wire;
    for (const TrafficCall& call : calls) wire += call.wire_at[i];
    if (wire.value() > 0) levels[e.run.cluster.levels[i].name] = wire.value();
  }
  return {{"cluster", run.cluster},
          {"layout", run_layout_json(e.run)},
          {"precision", e.run.job.recipe->name},
          {"step_time_s", e.forecast.step_time.value()},
          {"tokens_per_s_per_gpu", e.forecast.tokens_per_second_per_accelerator},
          {"fits", e.forecast.fits},
          {"calls", all.calls},
          {"calls_per_s", all.calls / e.forecast.step_time.value()},
          {"wire_bytes", all.wire.value()},
          {"wire_bytes_by_level", std::move(levels)},
          {"time_s", all.time.value()},
          {"exposed_s", all.exposed.value()}};
}

}  // namespace

std::string clusters_json(const std::vector<CallsOnCluster>& runs) {
  Json made = Json::array(), left_out = Json::array();
  for (const CallsOnCluster& run : runs) {
    if (run.calls) {
      made.push_back(cluster_json(run));
      continue;
    }
    for (const Problem& problem : run.calls.problems()) {
      left_out.push_back(
          {{"label", run.cluster}, {"reason", where_text(problem) + ": " + problem.message}});
    }
  }
  return document_text({{"clusters", std::move(made)}, {"left_out", std::move(left_out)}});
}

}  // namespace headway

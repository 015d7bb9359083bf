#include "study/traffic/clusters.hpp"

#include "cluster/load.hpp"

namespace headway {

Result<std::vector<CallsOnCluster>> calls_on_clusters(const RunRequest& fields,
                                                      const std::vector<std::string>& clusters,
                                                      std::optional<Bytes> small_below) {
  Problems problems;
  for (const std::string& name : clusters) {
    const auto cluster = load_cluster(name);
    if (cluster) continue;
    for (Problem problem : cluster.problems()) {
      if (problem.place.kind != Place::Kind::file) {
        problem = Problem{FieldName("clusters"), problem.message, problem.kind};
      }
      problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) return problems;

  std::vector<CallsOnCluster> out;
  for (const std::string& name : clusters) {
    RunRequest there = fields;
    there.push_back({"cluster", name, FieldName("clusters")});
    const auto run = make_run(there);
    out.push_back(
        {name, run ? expected_calls(*run, small_below) : Result<ExpectedCalls>(run.problems())});
  }
  return out;
}

}  // namespace headway

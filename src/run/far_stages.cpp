#include "run/far_stages.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

constexpr const char* kCluster = "far-cluster";
constexpr const char* kStages = "far-stages";

std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + plural(what, static_cast<double>(count));
}

// [FORECAST-20] A stage lies on whole nodes of its machine, and one of them is all that it is on.
void check_places(const RequestedRun& run, Problems& problems) {
  const Layout& layout = run.layout;
  const auto fail = [&](const char* field, std::string message) {
    problems.push_back({FieldName(field), std::move(message), Trouble::illegal});
  };
  const std::int64_t of_stage = layout.ranks() / layout.pp;
  if (stride(layout, Dimension::pp) != of_stage) {
    return fail("order",
                "numbers ranks of different stages next to each other, and stages stand "
                "on two machines; legal: pp last");
  }
  if (layout.copies() > 1) {
    return fail("schedule",
                "puts a stage from each end of the pipeline on every rank, and the "
                "ends stand on two machines");
  }
  const auto check_machine = [&](const Cluster& cluster, std::int64_t stages, const char* field) {
    const std::int64_t ranks = of_stage * stages, node = cluster.levels.front().size;
    if (ranks > cluster.accelerators) {
      fail(field, counted(stages, "stage") + " of " + std::to_string(of_stage) + " ranks are " +
                      std::to_string(ranks) + ", but cluster " + cluster.name + " has at most " +
                      counted(cluster.accelerators, "accelerator"));
    } else if (ranks > node && of_stage % node != 0 && node % of_stage != 0) {
      fail(field, "has nodes of " + std::to_string(node) + " accelerators, on which stages of " +
                      std::to_string(of_stage) + " ranks do not lie whole");
    }
  };
  check_machine(run.cluster, layout.pp - run.far->stages, "cluster");
  check_machine(run.far->cluster, run.far->stages, kCluster);
}

Problems check_alone(Run run) {
  run.cluster.accelerators = std::max(run.cluster.accelerators, run.layout.ranks());
  return check(run);
}

}  // namespace

std::span<const RunField> far_fields() {
  static const std::vector<RunField> out = {
      {kCluster,
       "NAME|FILE",
       "machine of the last pipeline stages, where it is another",
       {.kind = FieldForm::Kind::cluster}},
      {kStages,
       "N",
       "how many of the pipeline's stages those are",
       {.kind = FieldForm::Kind::whole, .least = 1, .most = 1e7}}};
  return out;
}

std::span<const RunField> all_fields() {
  static const std::vector<RunField> out = [] {
    std::vector<RunField> fields(run_fields().begin(), run_fields().end());
    fields.insert(fields.end(), far_fields().begin(), far_fields().end());
    return fields;
  }();
  return out;
}

void read_far_stages(RequestReader& reader, Types types, RequestedRun& run) {
  const auto name = reader.text(kCluster);
  FarStages far;
  reader.count(kStages, far.stages);
  for (const char* field : {kCluster, kStages}) {
    if (reader.has(field) && types == Types::one) {
      reader.fail(field, "is read by predict alone; leave it out", Trouble::unsupported);
    }
  }
  if (types == Types::one) return;
  if (reader.has(kCluster) != reader.has(kStages)) {
    const bool cluster = reader.has(kCluster);
    return reader.fail(
        cluster ? kCluster : kStages,
        "is read with " + std::string(cluster ? kStages : kCluster) + " alone; give both, or none");
  }
  if (!name || reader.refused(kStages)) return;
  for (const char* field : {"slice", "calibration"}) {
    if (reader.has(field)) {
      reader.fail(field, "is of one machine, and stages stand on two; leave it out");
    }
  }
  if (far.stages >= run.layout.pp) {
    return reader.fail(kStages, "is " + std::to_string(far.stages) + ", and the pipeline has " +
                                    counted(run.layout.pp, "stage") +
                                    "; legal: fewer than pp, which is 2 or more");
  }
  auto cluster = cluster_of(*reader.find(kCluster));
  if (!cluster) return reader.fail(kCluster, cluster.problems());
  far.cluster = std::move(cluster).value();
  far.attention = reader.has("attention") ? run.job.attention
                                          : usual_attention(run.job, far.cluster.accelerator);
  run.far = std::make_shared<const FarStages>(std::move(far));
}

Run on_far_machine(const RequestedRun& run) {
  Run out = run;
  out.cluster = run.far->cluster;
  out.job.attention = run.far->attention;
  return out;
}

const Cluster& machine_of_calls(const RequestedRun& run, bool is_far) {
  return is_far ? run.far->cluster : run.cluster;
}

Problems check_on_both(const RequestedRun& run) {
  Problems out = check_alone(run);
  for (Problem& problem : check_alone(on_far_machine(run))) {
    const bool said = std::any_of(out.begin(), out.end(), [&](const Problem& other) {
      return other.message == problem.message;
    });
    if (!said) out.push_back(std::move(problem));
  }
  if (out.empty()) check_places(run, out);
  return out;
}

}  // namespace headway

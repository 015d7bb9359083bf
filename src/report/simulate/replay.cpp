#include "report/simulate/replay.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/simulate/lists.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostWorkers = 8, kMostStages = 64;

std::string factor(double value) {
  return formatted("%.3f", value);
}

// Workers from the one that makes the job slowest.
std::vector<std::size_t> slowest_workers(const Replay& replay) {
  std::vector<std::size_t> out(replay.slowdown_without_worker.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    return replay.slowdown_without_worker[a] > replay.slowdown_without_worker[b];
  });
  out.resize(std::min(out.size(), kMostWorkers));
  return out;
}

}  // namespace

std::string replay_text(const Replay& replay) {
  const std::size_t steps = replay.pipelines.size() / replay.dp_ranks.size();
  std::string out = count_text(static_cast<double>(steps)) + " steps of " +
                    count_text(static_cast<double>(replay.dp_ranks.size())) + " pipelines, " +
                    std::to_string(replay.stages) + " stages, " +
                    std::to_string(replay.micro_batches) + " micro-batches, 1f1b\n\n";
  out += aligned({{"step of the pipelines", to_text(replay.step)},
                  {"every pass at its mean", to_text(replay.ideal_step)},
                  {"slowdown", factor(replay.slowdown)},
                  {"a transfer between stages", to_text(replay.transfer),
                   replay.transfer_given ? "given" : "1 % of a pass"}});
  return out + slowdowns_text(replay);
}

std::string slowdowns_text(const Replay& replay) {
  std::vector<std::vector<std::string>> rows = {{"  stage", "slow by itself", "mended"}};
  const std::size_t shown = std::min(replay.slowdown_without_stage.size(), kMostStages);
  for (std::size_t s = 0; s < shown; ++s) {
    rows.push_back({"  " + std::to_string(s), factor(replay.slowdown_without_stage[s]),
                    factor(replay.slowdown_stage_mended[s])});
  }
  std::string out = "\nslowdown by stage\n" + aligned(rows);
  rows = {{"  dp_rank", "stage", "slow by itself", "mended"}};
  for (const std::size_t worker : slowest_workers(replay)) {
    const auto stages = static_cast<std::size_t>(replay.stages);
    rows.push_back({"  " + std::to_string(replay.dp_ranks[worker / stages]),
                    std::to_string(worker % stages), factor(replay.slowdown_without_worker[worker]),
                    factor(replay.slowdown_worker_mended[worker])});
  }
  out += "\nslowdown by worker, the slowest first\n" + aligned(rows);
  return out + "\n" +
         wrapped(
             "slow by itself: every pass at its mean but its own; mended: its own alone at their "
             "mean",
             0, 0);
}

std::string replay_json(const Replay& replay) {
  JsonWriter out;
  out.begin_object();
  out.member("stages", replay.stages);
  out.member("micro_batches", replay.micro_batches);
  list(out, "dp_ranks", replay.dp_ranks);
  out.member("transfer_s", replay.transfer.value());
  out.key("pipelines");
  out.begin_array();
  for (const ReplayedPipeline& pipeline : replay.pipelines) {
    out.begin_object();
    out.member("step", pipeline.step);
    out.member("dp_rank", pipeline.dp_rank);
    out.member("span_s", pipeline.span.value());
    out.end_object();
  }
  out.end_array();
  slowdowns(out, replay);
  out.end_object();
  return out.take();
}

void slowdowns(JsonWriter& out, const Replay& replay) {
  out.member("step_s", replay.step.value());
  out.member("ideal_step_s", replay.ideal_step.value());
  out.member("slowdown", replay.slowdown);
  list(out, "slowdown_without_stage", replay.slowdown_without_stage);
  list(out, "slowdown_without_worker", replay.slowdown_without_worker);
  list(out, "slowdown_stage_mended", replay.slowdown_stage_mended);
  list(out, "slowdown_worker_mended", replay.slowdown_worker_mended);
}

}  // namespace headway

// simulate replay: measured passes of pipelines, run again.
#include "report/simulate/replay.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "api/simulate/table.hpp"
#include "base/quantity_text.hpp"
#include "simulate/pipeline/stages.hpp"
#include "simulate/replay/replay.hpp"

namespace headway {

CommandOutput run_simulate_replay(const SimulateReplayRequest& request) {
  // What was measured, or everything that is wrong with it.
  Problems problems;
  std::optional<Seconds> transfer;
  if (!request.transfer.empty()) {
    const auto given = parse_quantity<Seconds>(request.transfer, FieldName("transfer"));
    if (!given) {
      append(problems, given.problems());
    } else if (std::string wrong = time_problem(*given, Least::nothing); !wrong.empty()) {
      problems.push_back({FieldName("transfer"), std::move(wrong)});
    } else {
      transfer = *given;
    }
  }
  if (request.file.empty() && request.ops.empty()) {
    problems.push_back({"simulate replay", "needs a file of measured passes", Trouble::missing});
    return {.problems = std::move(problems)};
  }
  const auto table = request.ops.empty() ? table_of(request.file) : parse_csv(request.ops, "ops");
  const auto measured = table ? read_ops(*table) : table.problems();
  if (!measured) append(problems, measured.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};

  // The pipelines as they were, and as they might have been.
  const Replay replayed = replay(*measured, transfer);
  return {.text = request.json ? replay_json(replayed) : replay_text(replayed)};
}

Command simulate_replay_command() {
  auto request = std::make_shared<SimulateReplayRequest>();
  Command out{.name = "replay",
              .help = "measured passes of pipelines run again: which stage or worker is slow",
              .examples = {"headway simulate replay examples/slow-worker-ops.csv"},
              .run = running(request, run_simulate_replay)};
  out.options = {
      operand("OPS.csv", "columns step, dp_rank, stage, micro_batch, F_s, B_s", &request->file),
      {.name = "ops",
       .help = "that table as text",
       .target = &request->ops,
       .door = Door::document},
      {.name = "transfer",
       .value = "TIME",
       .help = "between stages; default: 1 % of a pass in the mean",
       .target = &request->transfer}};
  return out;
}

}  // namespace headway

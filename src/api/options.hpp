// What the rows of commands are written with: options of the usual kinds, and a request that is run
// as they filled it. Internal to src/api.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/command.hpp"

namespace headway {

constexpr std::string_view kOverrides = "a run file; flags override its fields";

/// What every question about one run needs.
inline const std::vector<std::string_view> kRunNeeds = {"model", "cluster", "seq", "global-batch"};

/// The fields of a run and the like, but those whose names are taken: their reader judges what they
/// may be.
void add_fields(std::vector<Option>& options, RunRequest& into, std::span<const RunField> fields,
                const std::vector<std::string_view>& needed = {});
void add(std::vector<Option>& options, std::vector<Option> more);

/// A file or folder of this machine.
Option path(std::string_view name, std::string_view value, std::string_view help, Target target);
/// The same without a name before it.
Option operand(std::string_view shown, std::string_view help, Target target);
Option wordless(std::string_view name, std::string_view help, bool& target);

template <class Names>
std::vector<std::string> words(const Names& names) {
  return {names.begin(), names.end()};
}

/// What requests have of the circumstances.
template <class Request>
void adopt(Request& request, const Circumstances& at) {
  if constexpr (requires { request.json; }) request.json = at.json;
  if constexpr (requires { request.threads; }) request.threads = at.threads;
  if constexpr (requires { request.progress; }) request.progress = at.progress;
  if constexpr (requires { request.begun; }) request.begun = at.begun;
  if constexpr (requires { request.bounded; }) request.bounded = at.bounded;
  if constexpr (requires { request.division; }) request.division = at.division;
}

/// A command whose request is run as it was filled.
template <class Request>
auto running(std::shared_ptr<Request> request, CommandOutput (*run)(const Request&)) {
  return [request = std::move(request), run](const Circumstances& at) {
    adopt(*request, at);
    return run(*request);
  };
}

// The commands, each made anew for a question, beside what they run.
Command predict_command();
Command plan_command();
Command comms_command();
Command advise_command();
Command scale_command();
Command limits_command();
Command validate_command();
Command list_command();
Command bench_command();
Command calibrate_command();
Command simulate_command();
Command infer_command();
Command design_command();
Command jobs_command();

// Those of `scale` that are about laws of convergence (src/api/laws).
Command scale_convergence_command();
Command scale_batch_command();
Command scale_slimming_command();
Command scale_subnetworks_command();
/// limits --budget and what goes with it (src/api/budget).
std::vector<Option> budget_options(BudgetQuestion& question);
/// calibrate --steps: laws of batches of one's own points.
CommandOutput calibrate_steps(const CalibrateRequest& request);

// Those of `simulate`, each a row of its table.
Command simulate_codesign_command();
Command simulate_pipeline_command();
Command simulate_replay_command();
Command simulate_network_command();
Command simulate_collective_command();
Command simulate_recording_command();

}  // namespace headway

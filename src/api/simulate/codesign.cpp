// simulate codesign: what each choice about communication brings, alone and together.
#include "report/simulate/codesign.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "api/simulate/algorithms.hpp"

namespace headway {

CommandOutput run_simulate_codesign(const SimulateCodesignRequest& request) {
  // A run and choices, or everything that is wrong with them.
  const auto fields = read_run_request(request.run_file, request.fields);
  const auto calls = read_call_choices(request.algorithms);
  Problems problems;
  if (!fields) append(problems, fields.problems());
  if (!calls) append(problems, calls.problems());
  if (!problems.empty()) {
    if (fields) {
      if (const auto run = make_run(*fields); !run) append(problems, run.problems());
    }
    if (const auto choices = read_choices(request.choices); !choices) {
      append(problems, choices.problems());
    }
    return {.problems = std::move(problems)};
  }

  // Its step by each of them, and by all that pay.
  const auto found = codesign(*fields, *calls, request.choices);
  if (!found) return {.problems = found.problems()};
  return {.text = request.json ? simulate_codesign_json(*found) : simulate_codesign_text(*found)};
}

Command simulate_codesign_command() {
  auto request = std::make_shared<SimulateCodesignRequest>();
  Command out{.name = "codesign",
              .help =
                  "what each choice about communication brings: schedule, synchronisation, "
                  "compression, buckets, algorithms, paths, network",
              .examples = {"headway simulate codesign --model llama-2-7b --cluster dgx-h100 "
                           "--gpus 32 \\\n    --seq 4096 --global-batch 32 --zero 0 --tp 4"},
              .run = running(request, run_simulate_codesign),
              .is_long = true};
  out.options = {operand("RUN", kOverrides, &request->run_file)};
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
  add(out.options, {algorithm_option(request->algorithms),
                    {.name = "choice",
                     .value = "NAME=VALUE",
                     .help = "repeatable; compression, synchronisation, priority, algorithm, "
                             "in-network, full-bisection, torus, or a field of the run; default: "
                             "the usual ones",
                     .target = &request->choices}});
  return out;
}

}  // namespace headway

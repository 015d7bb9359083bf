// advise: the three changes that bring a run most, by its own trace.
#include "report/comms/advise.hpp"

#include <utility>

#include "api/comms/parts.hpp"
#include "api/options.hpp"
#include "fit/collectives/traced.hpp"
#include "fit/own/one_step.hpp"

namespace headway {

CommandOutput run_advise(const AdviseRequest& request) {
  // The run and its recording, or all that is wrong with either.
  Problems problems;
  if (request.run_file.empty() && request.fields.empty()) {
    problems.push_back({"advise", "needs a run: RUN.toml, or its flags"});
  }
  if (request.traces.empty()) {
    problems.push_back({FieldName("trace"), "is missing: the traces of the run", Trouble::missing});
  }
  const auto given =
      read_run_and_traces("advise", std::move(problems), request.run_file, request.fields,
                          request.traces, request.steps, request.progress);
  if (!given) return {.problems = given.problems()};

  Problems warnings = warnings_of(given->read);
  const auto& prior = own_prior();
  if (!prior) return {.problems = prior.problems()};
  const auto own = [&](const Setup& setup, double residual) {
    return own_of_step(*prior, setup, residual);
  };
  const auto advised =
      advise(given->run, given->read.recording, own,
             {.steps = request.trace_steps, .network = fit_network_to, .threads = request.threads});
  if (!advised) return {.problems = advised.problems()};
  return {.text = request.json ? advise_json(*advised) : advise_text(*advised),
          .warnings = std::move(warnings)};
}

Command advise_command() {
  auto request = std::make_shared<AdviseRequest>();
  Command out{.name = "advise",
              .help = "what would make a run faster, by its own trace",
              .examples = {"headway advise examples/small-llama-ddp.toml --trace "
                           "examples/traces/small-llama-ddp"},
              .door = Door::command_line,
              .doing = "reading",
              .things = "bytes"};
  out.options = {
      operand("RUN", kOverrides, &request->run_file),
      path("trace", "TRACE", "traces of the run, of any known format", &request->traces)};
  add(out.options, step_options(request->trace_steps, request->steps));
  add_fields(out.options, request->fields, run_fields());
  out.run = running(std::move(request), run_advise);
  return out;
}

}  // namespace headway

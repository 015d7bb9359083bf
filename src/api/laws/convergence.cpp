// scale convergence: a loss on several sites, method by method.
#include <memory>

#include "api/options.hpp"
#include "platform/output.hpp"
#include "report/laws/sites.hpp"

namespace headway {
namespace {

struct ConvergenceRequest : SitesGiven {
  std::string run_file;
  std::string plot;
  bool json = false;
};

CommandOutput run_convergence(const ConvergenceRequest& request) {
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};
  SitesGiven given = request;
  given.fields = *fields;
  auto question = read_sites_question(given);
  if (!question) return {.problems = question.problems()};
  const auto answer = answer_sites(std::move(question).value());
  if (!answer) return {.problems = answer.problems()};
  if (!request.plot.empty()) {
    Problems problems = write_files(sites_plots(*answer, request.plot), request.plot);
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? sites_json(*answer) : sites_text(*answer),
          .exit_code = answer->rows.empty() ? 1 : 0};
}

}  // namespace

Command scale_convergence_command() {
  auto request = std::make_shared<ConvergenceRequest>();
  Command out{.name = "convergence",
              .help = "time to a loss on several sites by methods that communicate less",
              .examples = {"headway scale convergence --tokens 40B --model llama-3.2-1b "
                           "--cluster dgx-h100 \\\n    --gpus 64 --seq 2048 --global-batch 1024"},
              .run = running(request, run_convergence)};
  out.options = {
      operand("RUN.toml", kOverrides, &request->run_file),
      {.name = "sites",
       .value = "LIST",
       .help = "numbers of sites, each with the run's accelerators; default: 1,2,4,8",
       .target = &request->sites},
      {.name = "bandwidth",
       .value = "LIST",
       .help = "of a site, each way; default: 1, 10, 100 and 1000 Gb/s",
       .target = &request->bandwidths},
      {.name = "latency",
       .value = "TIME",
       .help = "of the link between sites, one way; default: 10 ms",
       .target = &request->latency},
      {.name = "compare",
       .value = "METHOD",
       .help =
           "a method beside synchronous training, as --method of a run has it; may be repeated; "
           "default: qsgd, gossip, ad-psgd, diloco, streaming-diloco, eager-diloco",
       .target = &request->methods},
      {.name = "sync-every",
       .value = "H",
       .help = "steps between meetings of those that do not state them (every); default: 30, as "
               "published",
       .target = &request->sync_every},
      {.name = "penalty",
       .value = "METHOD=X",
       .help = "your own loss over that of synchronous training, as gossip=1.01",
       .target = &request->penalties},
      {.name = "loss-data-exponent",
       .value = "X",
       .help = "tokens grow with the penalty to the power 1/X, instead of by --loss-law",
       .target = &request->data_exponent},
      wordless("extrapolate",
               "where none is published: DiLoCo's penalty by its fitted laws, none for gossip "
               "beyond what its spectral gap takes",
               request->extrapolate)};
  add_fields(out.options, request->fields, scale_run_fields(), {"tokens"});
  add_fields(out.options, request->fields, run_fields(), kRunNeeds);
  add(out.options, {path("plot", "DIR", "draw to this folder", &request->plot)});
  return out;
}

}  // namespace headway

// headway bench: the digest of fixed cases, the errors of the cost models, how long studies take.
#include "report/bench.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/generated.hpp"
#include "base/text.hpp"
#include "fit/collectives/collectives.hpp"
#include "fit/corpus/measurements.hpp"
#include "fit/kernels/kernels.hpp"
#include "forecast/predict/signature.hpp"
#include "platform/output.hpp"
#include "report/limits.hpp"
#include "report/plan.hpp"

namespace headway {

std::vector<std::string> bench_kinds() {
  return {"kernels", "collectives", "limits", "plan"};
}

namespace {

// bench collectives: the errors of the embedded constants, and of constants fitted without what
// they predict.
CommandOutput bench_collectives(const BenchRequest& request) {
  const bool renewed = !request.report.empty();
  Result<OutputFile> page = OutputFile();
  if (renewed) page = page_to_renew(request.report, "models/collectives.md");
  Problems problems;
  if (!page) append(problems, page.problems());
  const auto data = load_collective_data(request.data);
  if (!data) append(problems, data.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  const auto classes = calibrated_classes(*data);
  if (!classes) return {.problems = classes.problems()};
  const auto errors = collective_errors(*data, *classes);
  if (!request.left_out && !renewed) {
    const CollectiveReport report = collective_report(*data, errors);
    return {.text = request.json ? bench_json(report) : to_text(report)};
  }
  const auto left_out = left_out_errors(*data, request.threads);
  if (!left_out) return {.problems = left_out.problems()};
  const auto from_few = from_few_nodes(*data);
  if (!from_few) return {.problems = from_few.problems()};
  CollectiveReport report = collective_report(*data, errors, *left_out);
  report.generalisation = *from_few;
  if (renewed) {
    const auto text = with_generated(page->text, page->path, collective_blocks(report));
    if (!text) return {.problems = text.problems()};
    problems = write_files({{page->path, *text}}, "");
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? bench_json(report) : to_text(report)};
}

}  // namespace

CommandOutput run_bench(const BenchRequest& request) {
  if (request.what != "collectives" && (request.left_out || !request.report.empty())) {
    return {.problems = {{FieldName(request.left_out ? "left-out" : "report"),
                          "is of the errors of collectives: headway bench collectives"}}};
  }
  if (request.what.empty()) {
    if (!request.signature) {
      return {.problems = {{"bench", "say what: --signature, " + join(bench_kinds(), ", ")}}};
    }
    const auto digest = signature();
    if (!digest) return {.problems = digest.problems()};
    return {.text = request.json ? signature_json(*digest) : *digest + "\n"};
  }
  if (request.what == "kernels") {
    const auto csv = read_measurements(request.data, "kernels.csv");
    if (!csv) return {.problems = csv.problems()};
    const auto report = kernel_report(csv->text, csv->path);
    if (!report) return {.problems = report.problems()};
    return {.text = request.json ? bench_json(*report) : to_text(*report)};
  }
  if (request.what == "collectives") return bench_collectives(request);
  if (request.what == "limits") {
    const auto timing = time_limits(request.threads);
    if (!timing) return {.problems = timing.problems()};
    return {.text = request.json ? bench_json(*timing) : timing_text(*timing)};
  }
  if (request.what == "plan") {
    const auto timing = time_plans(request.threads);
    if (!timing) return {.problems = timing.problems()};
    return {.text = request.json ? bench_json(*timing) : timing_text(*timing)};
  }
  return {.problems = {{"bench", not_known(request.what, bench_kinds()), Trouble::unknown}}};
}

Command bench_command() {
  auto request = std::make_shared<BenchRequest>();
  Command out{.name = "bench",
              .help = "the digest of fixed cases, and errors of the cost models",
              .examples = {"headway bench --signature"},
              .run = running(request, run_bench),
              .door = Door::command_line};
  out.options = {
      {.name = "what",
       .help = "what is measured",
       .target = &request->what,
       .names = bench_kinds,
       .operand = "WHAT"},
      wordless("signature", "digest of the fixed cases", request->signature),
      wordless("left-out",
               "collectives: each system predicted by constants fitted without it, too (a minute)",
               request->left_out),
      path("report", "DIR", "collectives: renew the tables of DIR/models/collectives.md",
           &request->report),
      path("data", "DIR", "folder with measurements/; default: those built in", &request->data)};
  return out;
}

}  // namespace headway

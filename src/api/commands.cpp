#include "api/commands.hpp"

#include <cstdio>

#include "api/limits.hpp"
#include "api/plan.hpp"
#include "api/predict.hpp"
#include "base/document/document.hpp"
#include "base/draw/table.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "fit/collectives/collectives.hpp"
#include "fit/corpus/measurements.hpp"
#include "fit/kernels/kernels.hpp"
#include "model/load.hpp"
#include "platform/embedded.hpp"
#include "report/list.hpp"

namespace headway {
namespace {

CommandOutput bad(Problems problems) {
  return {.problems = std::move(problems)};
}

std::string lines_of(const Problems& problems, const std::string& before) {
  std::string out;
  for (const Problem& problem : problems) {
    out += before + printable(where_text(problem), 300) + ": " + printable(problem.message, 2000) +
           "\n";
  }
  return out;
}

}  // namespace

CommandOutput run_list(std::string_view what, bool json) {
  const std::vector<std::string> kinds = {"models", "clusters", "accelerators", "machines"};
  std::vector<std::string> names;
  if (what == "models") {
    names = model_names();
  } else if (what == "clusters") {
    names = cluster_names();
  } else if (what == "accelerators") {
    names = accelerator_names();
  } else if (what == "machines") {
    if (json) return {.text = machines_json()};
    names = limits::machine_names();
  } else {
    return bad({{"list", "'" + printable(what) + "' is not known; legal: " + join(kinds, ", "),
                 Trouble::unknown}});
  }
  if (json) return {.text = names_json(std::string(what), names)};
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : names) rows.push_back({name, description_of(what, name)});
  return {.text = aligned(rows, 2)};
}

CommandOutput run_bench(const BenchRequest& request) {
  if (request.what.empty()) {
    if (!request.signature) {
      return bad({{"bench", "say what: --signature, kernels, collectives, limits or plan",
                   Trouble::missing}});
    }
    const auto digest = signature();
    if (!digest) return bad(digest.problems());
    return {.text = *digest + "\n"};
  }
  if (request.what == "kernels") {
    const auto csv = read_measurements(request.data, "kernels.csv");
    if (!csv) return bad(csv.problems());
    const auto report = kernel_report(csv->text, csv->path);
    if (!report) return bad(report.problems());
    return {.text = to_text(*report)};
  }
  if (request.what == "collectives") {
    const auto data = load_collective_data(request.data);
    if (!data) return bad(data.problems());
    const auto classes = calibrated_classes(*data);
    if (!classes) return bad(classes.problems());
    return {.text = to_text(collective_report(*data, *classes))};
  }
  if (request.what == "limits") return bench_limits(request.threads);
  if (request.what == "plan") return bench_plan(request.threads);
  return bad(
      {{"bench",
        "'" + printable(request.what) + "' is not known; legal: kernels, collectives, limits, plan",
        Trouble::unknown}});
}

std::string problems_text(const Problems& problems) {
  return lines_of(problems, "headway: ");
}

std::string warnings_text(const Problems& warnings) {
  return lines_of(warnings, "headway: warning: ");
}

Result<std::string> signature() {
  const std::string file = "cases.toml";
  const auto text = embedded_file(file);
  if (!text) return Problem{file, "is missing from the binary", Trouble::unreadable};
  const auto document = parse_toml(*text, file);
  if (!document) return document.problems();
  // FNV-1a over every case's name and numbers, rounded so that a compiler's choice of instructions
  // does not show.
  std::uint64_t digest = 0xcbf29ce484222325u;
  const auto feed = [&](std::string_view bytes) {
    for (const char c : bytes) {
      digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
  };
  for (const auto& [name, node] : *document->root.table()) {
    const auto request = run_request_from(node, file);
    if (!request) return request.problems();
    const auto run = make_run(*request);
    if (!run) return run.problems();
    const auto forecast = predict(*run);
    if (!forecast) return forecast.problems();
    feed(name);
    const Parts& p = forecast->parts;
    for (const Seconds part :
         {p.compute, p.tp, p.cp, p.ep, p.pp, p.dp, p.bubble, p.optimizer, p.other}) {
      char number[32];
      std::snprintf(number, sizeof number, " %.6e", part.value());
      feed(number);
    }
    char number[64];
    std::snprintf(number, sizeof number, " %.6e %.6e %.6e %zu", forecast->memory.total().value(),
                  forecast->mfu, forecast->energy.value(), forecast->calls.size());
    feed(number);
  }
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(digest));
  return std::string(out);
}

}  // namespace headway

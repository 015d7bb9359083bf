// Published whole runs beside their predictions.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "api/scale.hpp"
#include "api/scale_sweep.hpp"
#include "base/document/document.hpp"
#include "base/draw/table.hpp"
#include "base/generated.hpp"
#include "base/text.hpp"
#include "fit/statistics.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"

namespace headway {
namespace {

std::string percent(double share, const char* pattern = "%.1f %%") {
  char text[32];
  std::snprintf(text, sizeof text, pattern, 100 * share);
  return text;
}

std::string error_lines(const std::vector<PublishedRun>& runs) {
  std::vector<double> all, published, ruled;
  for (const PublishedRun& run : runs) {
    const double error = std::abs(run.error());
    all.push_back(error);
    (run.layout_published ? published : ruled).push_back(error);
  }
  const auto line = [](const std::vector<double>& errors) {
    return std::to_string(errors.size()) + " runs, median error " +
           percent(quantile(errors, 0.5).value_or(0)) + ", mean " +
           percent(mean(errors).value_or(0));
  };
  return "all: " + line(all) + "\nlayout published: " + line(published) +
         "\nlayout taken by rule (*): " + line(ruled) + "\n";
}

std::string markdown(const std::vector<PublishedRun>& runs) {
  std::string out =
      "| run | tokens | layout | MFU | goodput | accelerator-hours, published | predicted | error "
      "| MWh, published | predicted |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const PublishedRun& run : runs) {
    const WholeRun& whole = run.whole;
    out += "| " + run.title + " | " + short_count_text(run.tokens) + " | " +
           (run.layout_published ? "published" : "by rule") + " | " + percent(whole.forecast.mfu) +
           " | " + percent(whole.cost.time.goodput) + " | " +
           short_count_text(run.accelerator_hours) + " | " +
           short_count_text(run.predicted_hours()) + " | " + percent(run.error(), "%+.1f %%") +
           " | " + (run.megawatt_hours ? short_count_text(*run.megawatt_hours) : "") + " | " +
           short_count_text(whole.cost.energy.total().value() / 3.6e9) + " |\n";
  }
  out += "\n```\n" + error_lines(runs) + "```\n\nWhat is known of each:\n\n";
  for (const PublishedRun& run : runs) {
    out += "- **" + run.title + "**: " + run.source + ". " + run.remark + "\n";
  }
  return out;
}

std::string terminal_text(const std::vector<PublishedRun>& runs) {
  std::vector<std::vector<std::string>> rows = {
      {"run", "MFU", "goodput", "hours published", "predicted", "error"}};
  for (const PublishedRun& run : runs) {
    rows.push_back({run.title + (run.layout_published ? "" : " *"), percent(run.whole.forecast.mfu),
                    percent(run.whole.cost.time.goodput), short_count_text(run.accelerator_hours),
                    short_count_text(run.predicted_hours()), percent(run.error(), "%+.1f %%")});
  }
  return aligned(rows) + "\n" + error_lines(runs);
}

}  // namespace

Result<std::vector<PublishedRun>> published_runs() {
  const auto document = embedded_document("runs/published.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields all(*document, problems);
  std::vector<PublishedRun> out;
  for (const std::string& name : all.keys()) {
    Fields fields = all.table(name);
    PublishedRun run;
    run.name = name;
    run.title = fields.text("title");
    run.source = fields.text("source");
    run.remark = fields.text("remark");
    run.tokens = fields.number("tokens");
    run.accelerator_hours = fields.number("accelerator_hours");
    run.layout_published = fields.flag_or("layout_published", false);
    if (fields.has("energy_mwh")) run.megawatt_hours = fields.number("energy_mwh");
    fields.table("run", /*required=*/true);
    if (!problems.empty()) return problems;
    auto request = run_request_from(*document->root.find(name)->find("run"), document->file);
    if (!request) return request.problems();
    char tokens[32];
    std::snprintf(tokens, sizeof tokens, "%.17g", run.tokens);
    request.value().push_back({"tokens", tokens, "tokens"});
    auto whole = whole_run(*request);
    if (!whole) return whole.problems();
    run.whole = std::move(whole).value();
    out.push_back(std::move(run));
  }
  return out;
}

CommandOutput run_scale_published(const ScalePublishedRequest& request) {
  const auto runs = published_runs();
  if (!runs) return {.problems = runs.problems()};
  if (!request.report.empty()) {
    const auto page = page_to_renew(request.report, "scaling.md");
    if (!page) return {.problems = page.problems()};
    auto sweeps = sweep_page();
    if (!sweeps) return {.problems = sweeps.problems()};
    sweeps->blocks["published"] = markdown(*runs);
    const auto renewed = with_generated(page->text, page->path, sweeps->blocks);
    if (!renewed) return {.problems = renewed.problems()};
    std::vector<OutputFile> files = {{page->path, *renewed}};
    for (const OutputFile& file : sweeps->files) {
      files.push_back({request.report + "/" + file.path, file.text});
    }
    Problems problems = write_files(files, request.report + "/scaling");
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? published_json(*runs) : terminal_text(*runs)};
}

}  // namespace headway

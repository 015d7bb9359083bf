#include "study/lifetime/published.hpp"

#include <utility>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {

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
    const auto request = run_request_from(*document->root.find(name)->find("run"), document->file);
    if (!request) return request.problems();
    auto made = make_run(*request);
    if (!made) return made.problems();
    auto given = assume_all_but(run.tokens);
    if (!given) return given.problems();
    auto whole = whole_run(std::move(made).value(), std::move(given).value());
    if (!whole) return whole.problems();
    run.whole = std::move(whole).value();
    out.push_back(std::move(run));
  }
  return out;
}

}  // namespace headway

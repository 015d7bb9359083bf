// headway limits --report.
#include "api/limits_report.hpp"

#include <array>
#include <functional>
#include <utility>

#include "api/limits_beyond.hpp"
#include "api/limits_real.hpp"
#include "base/document/document.hpp"
#include "base/draw/table.hpp"
#include "base/generated.hpp"

namespace headway {
namespace {

// A table of curves on the page: its block, what is asked for it, and how many of its drawings
// stand beside it: none, utilisation, degrees as well.
struct CurvesPart {
  std::string name;
  LimitsRequest request;
  std::size_t drawings = 0;
};

LimitsRequest of_preset(const char* preset) {
  LimitsRequest out;
  out.presets = {preset};
  return out;
}

std::vector<CurvesPart> curves_parts() {
  LimitsRequest hardware;
  hardware.gpus = {"h100-sxm", "h200",    "b200",        "gb200-nvl72", "gb300-nvl72",
                   "mi300x",   "tpu-v5p", "nvidia-2028", "gtx-580"};
  LimitsRequest sites;
  sites.gpus = {"h100-sxm"};
  sites.sites = 4;
  sites.site_bandwidth = "100 MB/s";
  sites.site_distance_km = 2000;
  sites.relax = "federated";
  return {{"grand-dense", of_preset("grand_dense"), 2},
          {"grand-sparse", of_preset("grand_sparse")},
          {"batch", of_preset("batch")},
          {"hardware", hardware},
          {"beyond", of_preset("beyond")},
          {"sites", sites, 1},
          {"relaxed", of_preset("relaxed"), 1}};
}

constexpr std::array<std::int64_t, 2> kRealSequences = {2048, 8192};
const char* const kMachine = "h100-sxm";  // of sensitivity and transformers

// What is on the page but the text that people write.
struct Page {
  std::string folder;  // of the drawings
  int threads = 0;
  GeneratedBlocks blocks;
  std::vector<OutputFile> drawings;
};

Problems add_curves(const CurvesPart& part, Page& page) {
  const auto comparison = limits_settings(part.request);
  if (!comparison) return comparison.problems();
  const auto settings = with_beyond(comparison->settings, part.request);
  if (!settings) return settings.problems();
  auto curves = limits_curves(*settings, page.threads, {});
  const LimitsReport report{comparison->title, std::move(*curves)};
  page.blocks[part.name] = markdown_table(limits_rows(report), 2);
  auto drawings = limits_plots(report, page.folder + "/" + part.name + "-");
  for (std::size_t i = 0; i < part.drawings; ++i) page.drawings.push_back(std::move(drawings[i]));
  std::string statements;
  for (const limits::Setting& setting : *settings) {
    if (setting.relaxation.method.empty()) continue;
    statements += "- " + relaxations_text({setting});
  }
  if (!statements.empty()) page.blocks[part.name + "-penalties"] = statements;
  return {};
}

Problems add_sensitivity(Page& page) {
  const auto machine = limits::embedded_machine(kMachine);
  if (!machine) return machine.problems();
  const limits::Setting setting = limits::setting_on(*machine);
  const auto found = limits_sensitivity(setting, page.threads, {});
  page.blocks["sensitivity"] = markdown_table(sensitivity_rows(setting, *found));
  page.blocks["improvements"] = "```\n" + improvements_text(setting, *found) + "```\n";
  page.drawings.push_back({page.folder + "/sensitivity.svg", sensitivity_svg(setting, *found)});
  return {};
}

Problems add_real(std::int64_t sequence, Page& page) {
  LimitsRequest request;
  request.gpus = {kMachine};
  request.real = true;
  request.sequence = sequence;
  request.threads = page.threads;
  const auto comparison = limits_settings(request);
  if (!comparison) return comparison.problems();
  const auto curves = real_answers(request, comparison->settings);
  if (!curves) return curves.problems();
  const std::string name = "real-" + std::to_string(sequence);
  page.blocks[name] = markdown_table(real_rows(curves->front()), 0) + "\n```\n" +
                      real_ends_text(curves->front()) + "```\n";
  page.drawings.push_back({page.folder + "/" + name + ".svg", real_svg(curves->front())});
  return {};
}

void add_weak_points(Page& page) {
  std::string& out = page.blocks["weak"];
  for (const std::string_view point : limits_weak_points()) out += "- " + std::string(point) + "\n";
}

}  // namespace

Result<std::vector<OutputFile>> limits_report_files(const std::string& folder, int threads,
                                                    const Progress& progress) {
  const auto old = page_to_renew(folder, "limits.md");
  if (!old) return old.problems();

  // Every table and drawing, one after the other, each on all threads.
  Page page{folder + "/limits", threads, {}, {}};
  std::vector<std::function<Problems()>> parts;
  for (const CurvesPart& part : curves_parts()) {
    parts.push_back([part, &page] { return add_curves(part, page); });
  }
  parts.push_back([&page] { return add_sensitivity(page); });
  for (const std::int64_t sequence : kRealSequences) {
    parts.push_back([sequence, &page] { return add_real(sequence, page); });
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (progress && !progress(i, parts.size()))
      return Problem{"limits", "was stopped", Trouble::stopped};
    if (Problems problems = parts[i](); !problems.empty()) return problems;
  }
  add_weak_points(page);

  // The page with them in their places.
  auto renewed = with_generated(old->text, old->path, page.blocks);
  if (!renewed) return renewed.problems();
  std::vector<OutputFile> out = {{old->path, std::move(renewed).value()}};
  for (OutputFile& drawing : page.drawings) out.push_back(std::move(drawing));
  return out;
}

CommandOutput run_limits_report(const LimitsRequest& request) {
  Problems problems;
  const auto refuse = [&](bool given, const Where& where) {
    if (given)
      problems.push_back({where, "has no meaning with --report, which asks what the page says"});
  };
  refuse(!request.files.empty(), "SETTING.toml");
  refuse(!request.presets.empty(), FieldName("preset"));
  refuse(!request.gpus.empty(), FieldName("gpu"));
  refuse(request.sparse, FieldName("sparse"));
  refuse(request.as_published, FieldName("as-published"));
  refuse(request.explain, FieldName("explain"));
  refuse(request.sensitivity, FieldName("sensitivity"));
  refuse(request.real, FieldName("real"));
  refuse(!request.cluster.empty(), FieldName("cluster"));
  refuse(request.sequence != 0, FieldName("seq"));
  refuse(!request.relax.empty() || request.sync_every || request.compression ||
             request.sample_penalty || request.blocks || request.submodels || request.loose_level,
         FieldName("relax"));
  refuse(request.sites != 0, FieldName("sites"));
  refuse(!request.rows.empty(), FieldName("rows"));
  refuse(!request.plot.empty(), FieldName("plot"));
  refuse(request.json, FieldName("json"));
  if (!problems.empty()) return {.problems = std::move(problems)};

  const auto files = limits_report_files(request.report, request.threads, request.progress);
  if (!files) return {.problems = files.problems()};
  problems = write_files(*files, request.report + "/limits");
  if (!problems.empty()) return {.problems = std::move(problems)};
  std::string text = "renewed:\n";
  for (const OutputFile& file : *files) text += "  " + file.path + "\n";
  return {.text = std::move(text)};
}

}  // namespace headway

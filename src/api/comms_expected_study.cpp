#include "api/comms_expected_study.hpp"

#include "base/document/document.hpp"
#include "base/draw/table.hpp"
#include "base/generated.hpp"
#include "base/text.hpp"
#include "platform/output.hpp"
#include "study/traffic/communication_plots.hpp"
#include "study/traffic/communication_tables.hpp"

namespace headway {
namespace {

std::string study_text(const std::vector<StudyTable>& tables) {
  std::string out =
      "GPT-NeoX on Frontier with DeepSpeed: bytes that a rank sends in one step (after\n"
      "Anthony et al., arXiv 2408.10197; docs/communication.md)\n";
  for (const StudyTable& table : tables) {
    out += "\n" + table.title + "\n" + aligned(table.rows, table.left);
  }
  return out;
}

// The page DIR/communication.md with its generated parts renewed, and its plots.
Result<std::vector<OutputFile>> report_files(const std::string& folder,
                                             const CommunicationStudy& study,
                                             const std::vector<StudyTable>& tables) {
  const auto page = page_to_renew(folder, "communication.md");
  if (!page) return page.problems();
  GeneratedBlocks blocks;
  for (const StudyTable& table : tables) {
    blocks["study-" + table.name] = markdown_table(table.rows, table.left);
  }
  const auto renewed = with_generated(page->text, page->path, blocks);
  if (!renewed) return renewed.problems();
  return std::vector<OutputFile>{
      {page->path, *renewed},
      {folder + "/communication/volume.svg", plot_study_volume(study)},
      {folder + "/communication/sizes.svg", plot_study_sizes(study)},
      {folder + "/communication/sequence.svg", plot_study_sequence(study)}};
}

}  // namespace

CommandOutput comms_study(const CommsRequest& request) {
  Problems problems;
  const auto refuse = [&](bool given, const char* flag) {
    if (given) problems.push_back({FieldName(flag), "has no meaning with --study and --report"});
  };
  refuse(!request.save.empty(), "save");
  refuse(!request.csv.empty(), "csv");
  refuse(!request.plot.empty(), "plot");
  refuse(!request.small.empty(), "small");
  if (!problems.empty()) return {.problems = std::move(problems)};

  // Every run of the study, and its tables.
  const auto study = communication_study();
  if (!study) return {.problems = study.problems()};
  const std::vector<StudyTable> tables = study_tables(*study);

  // The page and its plots, in one piece.
  if (!request.report.empty()) {
    const auto files = report_files(request.report, *study, tables);
    if (!files) return {.problems = files.problems()};
    Problems failed = write_files(*files, request.report + "/communication");
    if (!failed.empty()) return {.problems = std::move(failed)};
  }
  return {.text = request.json ? study_json(*study) : study_text(tables)};
}

}  // namespace headway

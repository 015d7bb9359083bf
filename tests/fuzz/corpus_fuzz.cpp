// Corpora of measured runs: any text becomes rows with a prediction or a reason, or problems; and
// any rows a report.
#include <cmath>
#include <cstdlib>

#include "base/document/csv.hpp"
#include "report/validation.hpp"
#include "report/validation_page.hpp"
#include "targets.hpp"

void headway::fuzz::corpus(std::string_view text) {
  const auto report = headway::validate(text, "corpus.csv", headway::ValidateBy::source);
  if (!report) {
    if (report.problems().empty()) std::abort();
    return;
  }
  for (const headway::ValidationRow& row : report->rows) {
    if (row.predicted() != row.predicted_step_time.has_value()) std::abort();
    if (row.predicted() &&
        !(std::isfinite(*row.predicted_step_time) && *row.predicted_step_time > 0)) {
      std::abort();
    }
  }
  // The rows that are written are read back, and the page takes whatever they hold.
  const auto rows = headway::parse_csv(headway::to_csv(report->rows), "rows.csv");
  if (!rows || rows->rows.size() != report->rows.size()) std::abort();
  const headway::GeneratedBlocks blocks = headway::validation_blocks(*report);
  std::string page;
  for (const auto& [name, block] : blocks) {
    page += "<!-- generated: " + name + " -->\n<!-- end -->\n";
  }
  const auto once = headway::with_generated(page, "page.md", blocks);
  if (!once || headway::with_generated(*once, "page.md", blocks).value() != *once) std::abort();
  for (const headway::Plot& plot : headway::validation_plots(*report)) {
    if (plot.svg.find("\"nan") != std::string::npos) std::abort();
  }
}

#include "report/charts/validation.hpp"

#include <algorithm>
#include <iterator>

#include "base/formatted.hpp"

namespace headway {

std::vector<const ValidationRow*> with_error(const std::vector<const ValidationRow*>& rows) {
  std::vector<const ValidationRow*> out;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
               [](const ValidationRow* row) { return row->error().has_value(); });
  return out;
}

std::vector<const ValidationRow*> with_memory_error(const std::vector<const ValidationRow*>& rows) {
  std::vector<const ValidationRow*> out;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
               [](const ValidationRow* row) { return row->memory_error().has_value(); });
  return out;
}

std::vector<const ValidationRow*> pointers_to(const std::vector<ValidationRow>& rows) {
  std::vector<const ValidationRow*> out;
  for (const ValidationRow& row : rows) out.push_back(&row);
  return out;
}

std::string percent_label(double share) {
  return formatted("%.1f %%", 100 * share);
}

std::vector<Plot> validation_plots(const ValidationReport& report) {
  return {
      {"predicted", plot_predicted(report)},
      {"scale", plot_errors(report, ValidateBy::scale)},
      {"parallelism", plot_errors(report, ValidateBy::parallelism)},
      {"memory", plot_memory(report)},
      {"ranking", plot_ranking(report)},
  };
}

}  // namespace headway

// The plots of docs/validation.md, one function each, and what they share.
#pragma once

#include <string>
#include <vector>

#include "report/validation_page.hpp"

namespace headway {

std::string plot_predicted(const ValidationReport& report);
/// Of the groups of `by`: scale or parallelism.
std::string plot_errors(const ValidationReport& report, ValidateBy by);
std::string plot_memory(const ValidationReport& report);
std::string plot_ranking(const ValidationReport& report);

/// Those of the rows that have an error of the step time; those with one of the memory.
std::vector<const ValidationRow*> with_error(const std::vector<const ValidationRow*>& rows);
std::vector<const ValidationRow*> with_memory_error(const std::vector<const ValidationRow*>& rows);
std::vector<const ValidationRow*> pointers_to(const std::vector<ValidationRow>& rows);

/// "12.3 %" of 0.123.
std::string percent_label(double share);

}  // namespace headway

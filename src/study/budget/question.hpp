// What is asked of machine and layout under a budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"

namespace headway {

struct BudgetQuestion {
  double budget = 0;                 // US dollars; 0: none
  std::string power_budget;          // "100 MW", at the meter; empty: none
  std::int64_t width = 0;            // d_model; 0: the widest within the budget
  std::vector<std::string> domains;  // accelerators; empty: from the machine's own on, doubling
  std::vector<std::string> fabrics;  // "50 GB/s" of an accelerator; empty: about the machine's
  std::string parts;                 // a file over data/limits/parts.toml
  std::optional<Document> parts_here;

  bool asks() const {
    return budget != 0 || !power_budget.empty() || width != 0 || !domains.empty() ||
           !fabrics.empty() || !parts.empty() || parts_here;
  }
};

}  // namespace headway

// limits --budget: machine and layout under a budget.
#pragma once

#include <string>
#include <vector>

#include "study/budget/budget.hpp"

namespace headway {

std::string budget_text(const std::vector<BudgetAnswer>& answers);
std::string budget_json(const std::vector<BudgetAnswer>& answers);

}  // namespace headway

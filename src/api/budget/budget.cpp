// limits --budget: machine and layout under a budget of money or power.
#include "report/budget/budget.hpp"

#include <algorithm>
#include <utility>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "study/budget/budget.hpp"

namespace headway {

CommandOutput run_limits_budget(const LimitsRequest& request,
                                const std::vector<limits::Setting>& settings) {
  Problems problems;
  std::vector<BudgetAnswer> answers;
  for (const limits::Setting& setting : settings) {
    auto answer = answer_budget(request.machine, setting, request.threads, request.progress);
    if (!answer) {
      for (const Problem& problem : answer.problems()) {
        if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
          problems.push_back(problem);
        }
      }
    } else {
      answers.push_back(std::move(answer).value());
    }
  }
  if (!problems.empty()) return {.problems = std::move(problems)};
  bool feasible = false;
  for (const BudgetAnswer& answer : answers) feasible |= answer.best.has_value();
  return {.text = request.json ? budget_json(answers) : budget_text(answers),
          .exit_code = feasible ? 0 : 1};
}

std::vector<Option> budget_options(BudgetQuestion& question) {
  return {{.name = "budget",
           .value = "DOLLARS",
           .help = "co-design: the machine, its network and the layout within this money",
           .target = &question.budget,
           .group = "Machine and layout together"},
          {.name = "power-budget",
           .value = "W",
           .help = "the same within this power at the meter, \"100 MW\"",
           .target = &question.power_budget,
           .group = "Machine and layout together"},
          {.name = "width",
           .value = "D",
           .help = "for the model of this d_model; default: the widest within the budget",
           .target = &question.width,
           .range = Range{1, 1'000'000'000},
           .group = "Machine and layout together"},
          {.name = "domain",
           .value = "N",
           .help = "accelerators of a domain that are tried, repeatable",
           .target = &question.domains,
           .group = "Machine and layout together"},
          {.name = "fabric",
           .value = "B",
           .help = "bandwidth of an accelerator between domains that is tried, repeatable",
           .target = &question.fabrics,
           .group = "Machine and layout together"},
          path("parts", "PARTS.toml", "prices and power of your own, as data/limits/parts.toml",
               &question.parts),
          {.name = "parts",
           .help = "the same in place",
           .target = &question.parts_here,
           .door = Door::document}};
}

}  // namespace headway

// Machine and layout together: how many accelerators, how large a domain, how much network, for a
// model and a time, under a budget of money or of power.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "limits/machine/setting.hpp"
#include "limits/search/search.hpp"
#include "platform/parallel.hpp"
#include "study/budget/bill.hpp"
#include "study/budget/question.hpp"

namespace headway {

/// One choice of domain and fabric: the smallest cluster of it that ends in time.
struct PricedMachine {
  std::int64_t domain = 0;
  BytesPerSecond fabric;
  std::optional<limits::Run> run;  // none: no cluster ends in time, or within the budget
  Bill bill;
};

struct BudgetAnswer {
  limits::Setting setting;
  std::string server;
  std::string sources;  // of the prices
  std::optional<double> dollars;
  std::optional<Watts> power;
  bool by_power = false;  // the least watts are looked for, not the least dollars
  limits::Shape shape;    // the model
  std::vector<std::int64_t> domains;
  std::vector<BytesPerSecond> fabrics;
  std::vector<PricedMachine> choices;  // of each domain each fabric; none: no model has any
  std::optional<std::size_t> best;
  // The best where prices lie at the ends of what is said: servers low and links low, low and high,
  // high and low, high and high. Places in `choices`.
  std::vector<std::size_t> best_at_ends;
  std::optional<PricedMachine> fastest;  // the shortest run within the budget
  std::optional<limits::Shape> next;     // the next wider model, which has no machine within it
};

/// [LIMIT-42] What is looked for decides by the middles of prices. Every problem at once.
Result<BudgetAnswer> answer_budget(const BudgetQuestion& question, const limits::Setting& setting,
                                   int threads, const Progress& progress);

}  // namespace headway
